// The smallest element.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef HIGHEST
#error "HIGHEST is not defined"
#endif

// What a work-item keeps, a lane for each element of a vector.
typedef struct {
  VECTOR_OF(ELEMENT) lowest;
} lanes_t;

// What a work-item, a group, a launch hands on.
typedef struct {
  ELEMENT lowest;
} partial_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  EACH_LANE LANE(lanes.lowest) = SPLAT(ELEMENT, HIGHEST);
  return lanes;
}

inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector) {
  EACH_LANE LANE(lanes.lowest) = LESSER(LANE(vector), LANE(lanes.lowest));
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.lowest = LANE_AT(ELEMENT, lanes.lowest, at);
  return partial;
}

inline partial_t lifted(ELEMENT element) {
  partial_t partial;
  partial.lowest = element;
  return partial;
}

inline partial_t none(void) {
  partial_t partial;
  partial.lowest = HIGHEST;
  return partial;
}

inline partial_t combined(partial_t a, partial_t b) {
  a.lowest = LESSER(b.lowest, a.lowest);
  return a;
}
