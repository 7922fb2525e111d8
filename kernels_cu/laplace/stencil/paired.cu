// By the mask's symmetry, as `symmetric`, with two sums in a word of 32 bits, which one instruction adds or multiplies:
// sums of bytes fit 16 bits. Two words hold the sums of four elements, one those of even and one those of odd places.

#if !KEEPS_WORDS
#error "only words of bytes are taken apart into pairs"
#endif

// differs: OpenCL C computes on vectors as a whole, CUDA C++ component by component.
struct sums_t {
  uint component[VECTOR_WIDTH / 2];
};
#define EACH_SUM _Pragma("unroll") for (int component = 0; component < VECTOR_WIDTH / 2; ++component)
// The upper half of one word and the lower one of another.
__device__ inline uint halves_of(uint before, uint behind) {
  return __byte_perm(before, behind, 0x5432);
}
// end differs
#define AS_SUM(weight) ((uint)weight)

// A negative lower sum borrows 1 from the upper one; results begin with this, so that no sum ends negative.
#define BIAS 0x4000
#define CENTRE_TERM(weight, own) (AS_SUM(weight) * (own) + BIAS * 0x00010001u)

typedef union {
  sums_t vector;
  uint word[VECTOR_WIDTH / 2];
} operand_t;

typedef struct {
  operand_t left, own, right;
} operands_t;

// The bytes in even places of a word as a pair, or those in odd ones.
__device__ inline uint pair_of(uint word, int is_odd) {
#if HAS_PTX
  uint pair;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(pair) : "r"(word), "r"(is_odd ? 0x4341 : 0x4240));
  return pair;
#else
  return word >> 8 * is_odd & 0x00ff00ff;
#endif
}

// Of a row of pairs the two values that begin `shift` values behind pair i, at most two before or behind it.
__device__ inline uint shifted(const uint *pairs, int i, int shift) {
  if (shift % 2 == 0) return pairs[i + shift / 2];
  const uint before = pairs[shift < 0 ? i - 1 : i], behind = pairs[shift < 0 ? i : i + 1];
#if HAS_PTX
  uint pair;
  asm("prmt.b32 %0, %1, %2, 0x5432;" : "=r"(pair) : "r"(before), "r"(behind));
  return pair;
#else
  return halves_of(before, behind);
#endif
}

__device__ inline operands_t operands_of(window_t window) {
  uint pairs[2][OWN_WORDS + 2];
#pragma unroll
  for (int i = 0; i < OWN_WORDS + 2; ++i) {
    pairs[0][i] = pair_of(window.word[i], 0);
    pairs[1][i] = pair_of(window.word[i], 1);
  }
  operands_t operands;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
#pragma unroll
    for (int is_odd = 0; is_odd < 2; ++is_odd) {
      // Neighbours are CHANNELS elements away: where that is odd, among the pairs of the other places.
      const uint *others = pairs[(is_odd + CHANNELS) % 2];
      const int to_left = (CHANNELS + !is_odd) / 2, to_right = (CHANNELS + is_odd) / 2;
      operands.left.word[2 * i + is_odd] = shifted(others, i + 1, -to_left);
      operands.own.word[2 * i + is_odd] = pairs[is_odd][i + 1];
      operands.right.word[2 * i + is_odd] = shifted(others, i + 1, to_right);
    }
  }
  return operands;
}

__device__ inline results_t results_of_sums(sums_t sums) {
  operand_t pairs;
  pairs.vector = sums;
#if HAS_PTX && COMPUTE_CAPABILITY >= 90
  results_t results;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    // One instruction takes the bias from both sums of a word and saturates them.
    asm("{\n"
        ".reg .b32 even, odd;\n"
        "add.s16x2 even, %1, %3;\n"
        "add.s16x2 odd, %2, %3;\n"
        "min.s16x2.relu even, even, %4;\n"
        "min.s16x2.relu odd, odd, %4;\n"
        "prmt.b32 %0, even, odd, 0x6240;\n"
        "}"
        : "=r"(results.packed[i])
        : "r"(pairs.word[2 * i]), "r"(pairs.word[2 * i + 1]), "r"((0x10000 - BIAS) * 0x00010001u), "r"(0x00ff00ff));
  }
  return results;
#else
  values_t values;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) {
    const uint pair = pairs.word[i / 4 * 2 + i % 2];
    values.at[i] = (int)(i % 4 < 2 ? pair & 0xffff : pair >> 16) - BIAS;
  }
  return results_of(values.vector);
#endif
}
