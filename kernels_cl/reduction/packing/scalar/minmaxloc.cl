// The smallest and the largest element so far, and where each was first met.

#define COMPONENTS 1

// differs: a processor's compiler would turn an unrolled loop into selections made for each vector.
#if SUB_GROUP_WIDTH == 1
#define UNROLL_ON_GPU _Pragma("nounroll")
#else
#define UNROLL_ON_GPU _Pragma("unroll")
#endif
// end differs

// Whether a vector is kept with each extreme: selecting a vector takes fewer instructions than finding the position in
// it, unless it has few elements; vectors of more than eight registers would leave too few for the loads in flight.
#define KEEPS_VECTORS (SUB_GROUP_WIDTH > 1 && VECTOR_WIDTH > 2 && VECTOR_WIDTH * (ELEMENT_BITS > 32 ? 2 : 1) <= 8)

#if !KEEPS_VECTORS
typedef found_t accumulator_t;

inline accumulator_t empty_accumulator(void) {
  return nothing();
}

inline accumulator_t accumulate(accumulator_t accumulator, VECTOR_OF(ELEMENT) vector, ulong position) {
#if SUB_GROUP_WIDTH == 1 || VECTOR_WIDTH > 2
  // A vector is searched only if one of its elements is beyond the extremes so far: these change a few times, mostly at
  // the start.
  bool is_beyond = false;
  EACH_COMPONENT is_beyond |= ANY(IS_LOWER(COMPONENT(vector), SPLAT(ELEMENT, accumulator.lowest)) |
                                  IS_HIGHER(COMPONENT(vector), SPLAT(ELEMENT, accumulator.highest)));
  if (!is_beyond) return accumulator;
#endif
  UNROLL_ON_GPU for (int at = 0; at < VECTOR_WIDTH; ++at) {
    const ELEMENT element = COMPONENT_AT(ELEMENT, vector, at);
    if (IS_LOWER(element, accumulator.lowest)) {
      accumulator.lowest = element;
      accumulator.lowest_at = position + at;
    }
    if (IS_HIGHER(element, accumulator.highest)) {
      accumulator.highest = element;
      accumulator.highest_at = position + at;
    }
  }
  return accumulator;
}

inline partial_t component_partial(accumulator_t accumulator, int at) {
  return partial_of(accumulator);
}
#else
// Each extreme is kept with the vector that holds it, which is searched once, at the end.
typedef struct {
  KEPT lowest;
  KEPT highest;
  VECTOR_OF(ELEMENT) lowest_in;
  VECTOR_OF(ELEMENT) highest_in;
  POSITION lowest_at;
  POSITION highest_at;
} accumulator_t;

inline accumulator_t empty_accumulator(void) {
  accumulator_t accumulator;
  accumulator.lowest = HIGHEST;
  accumulator.highest = LOWEST;
  EACH_COMPONENT COMPONENT(accumulator.lowest_in) = SPLAT(ELEMENT, HIGHEST);
  EACH_COMPONENT COMPONENT(accumulator.highest_in) = SPLAT(ELEMENT, LOWEST);
  accumulator.lowest_at = 0;
  accumulator.highest_at = 0;
  return accumulator;
}

inline accumulator_t accumulate(accumulator_t accumulator, VECTOR_OF(ELEMENT) vector, ulong position) {
  ELEMENT lowest = COMPONENT_AT(ELEMENT, vector, 0);
  ELEMENT highest = lowest;
#pragma unroll
  for (int at = 1; at < VECTOR_WIDTH; ++at) {
    lowest = LESSER(COMPONENT_AT(ELEMENT, vector, at), lowest);
    highest = GREATER(COMPONENT_AT(ELEMENT, vector, at), highest);
  }
  if (IS_LOWER(lowest, accumulator.lowest)) {
    accumulator.lowest = lowest;
    accumulator.lowest_in = vector;
    accumulator.lowest_at = position;
  }
  if (IS_HIGHER(highest, accumulator.highest)) {
    accumulator.highest = highest;
    accumulator.highest_in = vector;
    accumulator.highest_at = position;
  }
  return accumulator;
}

// The loop runs backwards, so that the last match is the first element.
inline partial_t component_partial(accumulator_t accumulator, int only) {
  uint lowest_at = 0;
  uint highest_at = 0;
#pragma unroll
  for (int at = VECTOR_WIDTH - 1; at >= 0; --at) {
    if (IS_SAME(COMPONENT_AT(ELEMENT, accumulator.lowest_in, at), accumulator.lowest)) lowest_at = at;
    if (IS_SAME(COMPONENT_AT(ELEMENT, accumulator.highest_in, at), accumulator.highest)) highest_at = at;
  }
  const found_t found = {accumulator.lowest, accumulator.highest, accumulator.lowest_at + lowest_at,
                         accumulator.highest_at + highest_at};
  return partial_of(found);
}
#endif
