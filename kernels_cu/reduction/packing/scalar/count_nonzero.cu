// How many elements at each place of a vector are not zero.

#define LANES VECTOR_WIDTH

// A lane counts in 32 bits: no work-item meets 2^32 vectors.
typedef struct {
  VECTOR_OF(uint) count;
} lanes_t;

__device__ inline lanes_t no_lanes(void) {
  lanes_t lanes;
  EACH_LANE LANE(lanes.count) = SPLAT(uint, 0);
  return lanes;
}

__device__ inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector, ulong position) {
  EACH_LANE LANE(lanes.count) += ONES(uint, LANE(vector) != SPLAT(ELEMENT, 0));
  return lanes;
}

__device__ inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.count = LANE_AT(uint, lanes.count, at);
  return partial;
}
