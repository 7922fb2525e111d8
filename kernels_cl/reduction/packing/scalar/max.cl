// The largest element at each place of a vector.

#define LANES VECTOR_WIDTH

typedef struct {
  VECTOR_OF(ELEMENT) highest;
} lanes_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  EACH_LANE LANE(lanes.highest) = SPLAT(ELEMENT, LOWEST);
  return lanes;
}

inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_LANE LANE(lanes.highest) = GREATER(LANE(vector), LANE(lanes.highest));
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.highest = LANE_AT(ELEMENT, lanes.highest, at);
  return partial;
}
