// The smallest element at each place of a vector.

#define LANES VECTOR_WIDTH

typedef struct {
  VECTOR_OF(ELEMENT) lowest;
} lanes_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  EACH_LANE LANE(lanes.lowest) = SPLAT(ELEMENT, HIGHEST);
  return lanes;
}

inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_LANE LANE(lanes.lowest) = LESSER(LANE(vector), LANE(lanes.lowest));
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.lowest = LANE_AT(ELEMENT, lanes.lowest, at);
  return partial;
}
