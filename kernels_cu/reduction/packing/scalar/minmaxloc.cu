// The smallest and the largest element so far, and where each was first met. A vector is looked through only if it has
// one beyond those: a work-item's extremes change a few times, mostly at the start.

#ifndef WAVE_WIDTH
#error "WAVE_WIDTH is not defined"
#endif

#define LANES 1

// differs: a processor's compiler would turn an unrolled loop into choices that are made for each vector.
#define SELDOM _Pragma("unroll")
// end differs

typedef found_t lanes_t;

__device__ inline lanes_t no_lanes(void) {
  return nothing();
}

__device__ inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector, ulong position) {
  bool is_beyond = false;
  EACH_LANE is_beyond |= ANY(IS_LOWER(LANE(vector), SPLAT(ELEMENT, lanes.lowest)) |
                             IS_HIGHER(LANE(vector), SPLAT(ELEMENT, lanes.highest)));
  if (!is_beyond) return lanes;
  SELDOM for (int at = 0; at < VECTOR_WIDTH; ++at) {
    const ELEMENT element = LANE_AT(ELEMENT, vector, at);
    if (IS_LOWER(element, lanes.lowest)) {
      lanes.lowest = element;
      lanes.lowest_at = position + at;
    }
    if (IS_HIGHER(element, lanes.highest)) {
      lanes.highest = element;
      lanes.highest_at = position + at;
    }
  }
  return lanes;
}

__device__ inline partial_t lane(lanes_t lanes, int at) {
  return partial_of(lanes);
}
