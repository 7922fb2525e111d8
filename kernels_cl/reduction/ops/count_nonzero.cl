// How many elements are not zero; NaN is not.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif

// A lane counts in 32 bits: no work-item meets 2^32 vectors.
#define NONZERO(x) (((x) != SPLAT(ELEMENT, 0)) ? SPLAT(ELEMENT, 1) : SPLAT(ELEMENT, 0))

// What a work-item keeps, a lane for each element of a vector.
typedef struct {
  VECTOR_OF(uint) count;
} lanes_t;

// What a work-item, a group, a launch hands on.
typedef struct {
  ulong count;
} partial_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  EACH_LANE LANE(lanes.count) = SPLAT(uint, 0);
  return lanes;
}

inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector) {
  EACH_LANE LANE(lanes.count) += CONVERT(uint, NONZERO(LANE(vector)));
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.count = LANE_AT(uint, lanes.count, at);
  return partial;
}

inline partial_t lifted(ELEMENT element) {
  partial_t partial;
  partial.count = element != 0;
  return partial;
}

inline partial_t none(void) {
  partial_t partial;
  partial.count = 0;
  return partial;
}

inline partial_t combined(partial_t a, partial_t b) {
  a.count += b.count;
  return a;
}
