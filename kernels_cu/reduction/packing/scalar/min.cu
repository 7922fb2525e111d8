// The smallest element in each component of the vectors.

#define COMPONENTS VECTOR_WIDTH

typedef struct {
  VECTOR_OF(ELEMENT) lowest;
  NAN_TRACKED
} accumulator_t;

__device__ inline accumulator_t empty_accumulator(void) {
  accumulator_t accumulator;
  EACH_COMPONENT COMPONENT(accumulator.lowest) = SPLAT(ELEMENT, HIGHEST);
  NO_NAN_YET(accumulator);
  return accumulator;
}

__device__ inline accumulator_t accumulate(accumulator_t accumulator, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_COMPONENT COMPONENT(accumulator.lowest) = LESSER_TRACKED(COMPONENT(vector), COMPONENT(accumulator.lowest));
  TRACK_NAN(accumulator, vector);
  return accumulator;
}

__device__ inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {WITH_NAN(accumulator, at, COMPONENT_AT(ELEMENT, accumulator.lowest, at))};
  return partial;
}
