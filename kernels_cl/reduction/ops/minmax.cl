// The smallest and the largest element in one pass.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef LOWEST
#error "LOWEST is not defined"
#endif
#ifndef HIGHEST
#error "HIGHEST is not defined"
#endif

// What a work-item keeps, a lane for each element of a vector.
typedef struct {
  VECTOR_OF(ELEMENT) lowest;
  VECTOR_OF(ELEMENT) highest;
} lanes_t;

// What a work-item, a group, a launch hands on.
typedef struct {
  ELEMENT lowest;
  ELEMENT highest;
} partial_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  EACH_LANE LANE(lanes.lowest) = SPLAT(ELEMENT, HIGHEST);
  EACH_LANE LANE(lanes.highest) = SPLAT(ELEMENT, LOWEST);
  return lanes;
}

inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector) {
  EACH_LANE LANE(lanes.lowest) = LESSER(LANE(vector), LANE(lanes.lowest));
  EACH_LANE LANE(lanes.highest) = GREATER(LANE(vector), LANE(lanes.highest));
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.lowest = LANE_AT(ELEMENT, lanes.lowest, at);
  partial.highest = LANE_AT(ELEMENT, lanes.highest, at);
  return partial;
}

inline partial_t lifted(ELEMENT element) {
  partial_t partial;
  partial.lowest = element;
  partial.highest = element;
  return partial;
}

inline partial_t none(void) {
  partial_t partial;
  partial.lowest = HIGHEST;
  partial.highest = LOWEST;
  return partial;
}

inline partial_t combined(partial_t a, partial_t b) {
  a.lowest = LESSER(b.lowest, a.lowest);
  a.highest = GREATER(b.highest, a.highest);
  return a;
}
