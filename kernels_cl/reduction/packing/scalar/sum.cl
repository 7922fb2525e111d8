// The sum of the terms in each component of the vectors.

#define COMPONENTS VECTOR_WIDTH

typedef struct {
  VECTOR_OF(TOTAL) total;
} accumulator_t;

inline accumulator_t empty_accumulator(void) {
  accumulator_t accumulator;
  EACH_COMPONENT COMPONENT(accumulator.total) = SPLAT(TOTAL, 0);
  return accumulator;
}

inline accumulator_t accumulate(accumulator_t accumulator, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_COMPONENT COMPONENT(accumulator.total) += TERM(CONVERT(TOTAL, COMPONENT(vector)));
  return accumulator;
}

inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {COMPONENT_AT(TOTAL, accumulator.total, at)};
  return partial;
}
