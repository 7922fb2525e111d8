// The sum of the terms at each place of a vector.

#define LANES VECTOR_WIDTH

typedef struct {
  VECTOR_OF(TOTAL) total;
} lanes_t;

__device__ inline lanes_t no_lanes(void) {
  lanes_t lanes;
  EACH_LANE LANE(lanes.total) = SPLAT(TOTAL, 0);
  return lanes;
}

__device__ inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_LANE LANE(lanes.total) += TERM(CONVERT(TOTAL, LANE(vector)));
  return lanes;
}

__device__ inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.total = LANE_AT(TOTAL, lanes.total, at);
  return partial;
}
