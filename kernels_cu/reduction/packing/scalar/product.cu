// The product of the elements in each component of the vectors.

#define COMPONENTS VECTOR_WIDTH

typedef struct {
  VECTOR_OF(TOTAL) product;
} accumulator_t;

__device__ inline accumulator_t empty_accumulator(void) {
  accumulator_t accumulator;
  EACH_COMPONENT COMPONENT(accumulator.product) = SPLAT(TOTAL, 1);
  return accumulator;
}

__device__ inline accumulator_t accumulate(accumulator_t accumulator, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_COMPONENT COMPONENT(accumulator.product) *= CONVERT(TOTAL, COMPONENT(vector));
  return accumulator;
}

__device__ inline partial_t component_partial(accumulator_t accumulator, int at) {
  partial_t partial;
  partial.product = COMPONENT_AT(TOTAL, accumulator.product, at);
  return partial;
}
