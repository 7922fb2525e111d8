// The sum of all elements: integers in 64 bits, floats in float64.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef TOTAL
#error "TOTAL is not defined"
#endif

// What a work-item keeps, a lane for each element of a vector.
typedef struct {
  VECTOR_OF(TOTAL) total;
} lanes_t;

// What a work-item, a group, a launch hands on.
typedef struct {
  TOTAL total;
} partial_t;

__device__ inline lanes_t no_lanes(void) {
  lanes_t lanes;
  EACH_LANE LANE(lanes.total) = SPLAT(TOTAL, 0);
  return lanes;
}

__device__ inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector) {
  EACH_LANE LANE(lanes.total) += CONVERT(TOTAL, LANE(vector));
  return lanes;
}

__device__ inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.total = LANE_AT(TOTAL, lanes.total, at);
  return partial;
}

__device__ inline partial_t lifted(ELEMENT element) {
  partial_t partial;
  partial.total = element;
  return partial;
}

__device__ inline partial_t none(void) {
  partial_t partial;
  partial.total = 0;
  return partial;
}

__device__ inline partial_t combined(partial_t a, partial_t b) {
  a.total += b.total;
  return a;
}
