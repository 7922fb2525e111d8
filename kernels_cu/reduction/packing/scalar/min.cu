// The smallest element in each component of the vectors.

#define COMPONENTS VECTOR_WIDTH

typedef struct {
  VECTOR_OF(ELEMENT) lowest;
} accumulator_t;

__device__ inline accumulator_t empty_accumulator(void) {
  accumulator_t accumulator;
  EACH_COMPONENT COMPONENT(accumulator.lowest) = SPLAT(ELEMENT, HIGHEST);
  return accumulator;
}

__device__ inline accumulator_t accumulate(accumulator_t accumulator, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_COMPONENT COMPONENT(accumulator.lowest) = LESSER(COMPONENT(vector), COMPONENT(accumulator.lowest));
  return accumulator;
}

__device__ inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {COMPONENT_AT(ELEMENT, accumulator.lowest, at)};
  return partial;
}
