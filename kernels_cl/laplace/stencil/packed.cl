// By the mask's symmetry, as `symmetric`, in packed arithmetic: sums of bytes fit 16 bits, several of
// which an instruction adds or multiplies.

#if !SATURATES || HIGHEST != 255
#error "only sums of bytes fit 16 bits"
#endif

// differs: OpenCL C has vectors of short, CUDA C++ only words of two.
#define sums_t VECTOR_OF(short)
#define EACH_SUM EACH_COMPONENT
#define AS_SUM(weight) ((short)weight)
#define SUMS_OF(elements) CONVERT(short, (elements).vector)
inline results_t results_of_sums(sums_t sums) {
  results_t results;
  results.vector = CONVERT(STORED, max(min(sums, SPLAT(short, HIGHEST)), SPLAT(short, LOWEST)));
  return results;
}
// end differs

#define CENTRE_TERM(weight, own) (AS_SUM(weight) * (own))

typedef struct {
  sums_t vector;
} operand_t;

typedef struct {
  operand_t left, own, right;
} operands_t;

inline operands_t operands_of(window_t window) {
  operands_t operands;
  operands.left.vector = SUMS_OF(window.left);
  operands.own.vector = SUMS_OF(window.own);
  operands.right.vector = SUMS_OF(window.right);
  return operands;
}
