// The smallest and the largest element so far, and where each was first met.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef ELEMENT_BITS
#error "ELEMENT_BITS is not defined"
#endif
#ifndef KEPT
#error "KEPT is not defined"
#endif
#ifndef PLACE
#error "PLACE is not defined"
#endif
#ifndef VECTOR_WIDTH
#error "VECTOR_WIDTH is not defined"
#endif
#ifndef WAVE_WIDTH
#error "WAVE_WIDTH is not defined"
#endif

#define LANES 1

// differs: a processor's compiler would turn an unrolled loop into choices that are made for each vector.
#define SELDOM _Pragma("unroll")
// end differs

// A choice between two vectors takes fewer instructions than finding the place in one, unless that has few elements; of
// more than eight registers two would leave too few for loads in flight.
#define KEEPS_VECTORS (WAVE_WIDTH > 1 && VECTOR_WIDTH > 2 && VECTOR_WIDTH * (ELEMENT_BITS > 32 ? 2 : 1) <= 8)

#if !KEEPS_VECTORS
typedef found_t lanes_t;

__device__ inline lanes_t no_lanes(void) {
  return nothing();
}

__device__ inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector, ulong position) {
#if WAVE_WIDTH == 1 || VECTOR_WIDTH > 2
  // A vector is looked through only if it has an element beyond those so far: they change a few times, mostly at the
  // start.
  bool is_beyond = false;
  EACH_LANE is_beyond |= ANY(IS_LOWER(LANE(vector), SPLAT(ELEMENT, lanes.lowest)) |
                             IS_HIGHER(LANE(vector), SPLAT(ELEMENT, lanes.highest)));
  if (!is_beyond) return lanes;
#endif
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
#else
// Each is kept with the vector that it stands in, which is looked through once, at the end.
typedef struct {
  KEPT lowest;
  KEPT highest;
  VECTOR_OF(ELEMENT) lowest_in;
  VECTOR_OF(ELEMENT) highest_in;
  PLACE lowest_at;
  PLACE highest_at;
} lanes_t;

__device__ inline lanes_t no_lanes(void) {
  lanes_t lanes;
  lanes.lowest = HIGHEST;
  lanes.highest = LOWEST;
  EACH_LANE LANE(lanes.lowest_in) = SPLAT(ELEMENT, HIGHEST);
  EACH_LANE LANE(lanes.highest_in) = SPLAT(ELEMENT, LOWEST);
  lanes.lowest_at = 0;
  lanes.highest_at = 0;
  return lanes;
}

__device__ inline lanes_t folded(lanes_t lanes, VECTOR_OF(ELEMENT) vector, ulong position) {
  ELEMENT lowest = LANE_AT(ELEMENT, vector, 0);
  ELEMENT highest = lowest;
#pragma unroll
  for (int at = 1; at < VECTOR_WIDTH; ++at) {
    lowest = LESSER(LANE_AT(ELEMENT, vector, at), lowest);
    highest = GREATER(LANE_AT(ELEMENT, vector, at), highest);
  }
  if (IS_LOWER(lowest, lanes.lowest)) {
    lanes.lowest = lowest;
    lanes.lowest_in = vector;
    lanes.lowest_at = position;
  }
  if (IS_HIGHER(highest, lanes.highest)) {
    lanes.highest = highest;
    lanes.highest_in = vector;
    lanes.highest_at = position;
  }
  return lanes;
}

// The last match is the first element.
__device__ inline partial_t lane(lanes_t lanes, int only) {
  uint lowest_at = 0;
  uint highest_at = 0;
#pragma unroll
  for (int at = VECTOR_WIDTH - 1; at >= 0; --at) {
    if (IS_SAME(LANE_AT(ELEMENT, lanes.lowest_in, at), lanes.lowest)) lowest_at = at;
    if (IS_SAME(LANE_AT(ELEMENT, lanes.highest_in, at), lanes.highest)) highest_at = at;
  }
  found_t found;
  found.lowest = lanes.lowest;
  found.highest = lanes.highest;
  found.lowest_at = lanes.lowest_at + lowest_at;
  found.highest_at = lanes.highest_at + highest_at;
  return partial_of(found);
}
#endif
