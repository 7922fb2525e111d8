// By the mask's symmetry, as `symmetric`, in packed arithmetic: sums of bytes fit 16 bits, several of
// which an instruction adds or multiplies.

#if !SATURATES || HIGHEST != 255
#error "only sums of bytes fit 16 bits"
#endif

// differs: OpenCL C has vectors of short, CUDA C++ only words of two.
// A word is its upper sum times 65536 plus its lower one: words are added and multiplied as numbers of 32 bits.
struct sums_t {
  uint component[VECTOR_WIDTH / 2];
};
#define EACH_SUM _Pragma("unroll") for (int component = 0; component < VECTOR_WIDTH / 2; ++component)
#define AS_SUM(weight) ((uint)weight)
#define SUMS_OF(elements) sums_of_words((elements).words)

__device__ inline sums_t sums_of_words(words_t words) {
  sums_t sums;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH / 4; ++i) {
    sums.component[2 * i] = __byte_perm(words.word[i], 0, 0x4140);
    sums.component[2 * i + 1] = __byte_perm(words.word[i], 0, 0x4342);
  }
  return sums;
}

__device__ inline results_t results_of_sums(sums_t sums) {
  VECTOR_OF(VALUE) values;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH / 2; ++i) {
    values.component[2 * i] = (short)sums.component[i];
    // A negative lower sum has borrowed 1 from the upper one.
    values.component[2 * i + 1] = (int)(sums.component[i] + 0x8000) >> 16;
  }
  return results_of(values);
}
// end differs

#define CENTRE_TERM(weight, own) (AS_SUM(weight) * (own))

typedef struct {
  sums_t vector;
} operand_t;

typedef struct {
  operand_t left, own, right;
} operands_t;

__device__ inline operands_t operands_of(window_t window) {
  operands_t operands;
  operands.left.vector = SUMS_OF(window.left);
  operands.own.vector = SUMS_OF(window.own);
  operands.right.vector = SUMS_OF(window.right);
  return operands;
}
