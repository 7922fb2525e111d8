// The smallest and the largest element so far, and the vectors in which each was first met. A place for each element
// would cost more than the comparison; a work-item's extremes change a few times only, mostly at the start.

#define LANES 1

typedef partial_t lanes_t;

inline lanes_t no_lanes(void) {
  return none();
}

inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector, ulong position) {
  bool is_lower = false;
  bool is_higher = false;
  EACH_LANE is_lower |= ANY(IS_LOWER(LANE(vector), SPLAT(ELEMENT, lanes.lowest)));
  EACH_LANE is_higher |= ANY(IS_HIGHER(LANE(vector), SPLAT(ELEMENT, lanes.highest)));
  if (is_lower) {
    lanes.lowest_at = position;
#pragma unroll
    for (int at = 0; at < VECTOR_WIDTH; ++at) {
      const ELEMENT element = LANE_AT(ELEMENT, vector, at);
      if (IS_LOWER(element, lanes.lowest)) lanes.lowest = element;
    }
  }
  if (is_higher) {
    lanes.highest_at = position;
#pragma unroll
    for (int at = 0; at < VECTOR_WIDTH; ++at) {
      const ELEMENT element = LANE_AT(ELEMENT, vector, at);
      if (IS_HIGHER(element, lanes.highest)) lanes.highest = element;
    }
  }
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  return lanes;
}
