// How many elements are not zero, in each component of the vectors.

#define COMPONENTS VECTOR_WIDTH

// A component counts in 32 bits: no work-item reads 2^32 vectors.
typedef struct {
  VECTOR_OF(uint) count;
} accumulator_t;

inline accumulator_t empty_accumulator(void) {
  accumulator_t accumulator;
  EACH_COMPONENT COMPONENT(accumulator.count) = SPLAT(uint, 0);
  return accumulator;
}

inline accumulator_t accumulate(accumulator_t accumulator, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_COMPONENT COMPONENT(accumulator.count) += ONES(uint, COMPONENT(vector) != SPLAT(ELEMENT, 0));
  return accumulator;
}

inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {COMPONENT_AT(uint, accumulator.count, at)};
  return partial;
}
