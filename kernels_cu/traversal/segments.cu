// Every second call takes the segments of what a work-item reads from the last to the first, and so begins with what
// the call before has left in the caches. Within a segment each call goes forward, and the segments' partial results
// are combined in the source's order: a sum of floats is the same in each call.

// What the caches have left lies at an end of the source: there segments are short, so that little of one is pushed out
// before it is read. The one between the ends takes all the rest.
#define MOST_SEGMENTS (2 * SEGMENTS_AN_END + 1)

// farthest: the number of the last segment; 0 in a call that goes forward.
// segments: how many there are.
// segment_vectors, more_vectors: those that a work-item reads of each, and how many more of the one between the ends;
// multiples of LOADS_IN_FLIGHT.
#define TRAVERSAL_PARAMETERS \
  , const ulong farthest, const uint segments, const ulong segment_vectors, const ulong more_vectors
#define TRAVERSAL_LOCALS(type)
#define GROUP_AT(group) (group)
#define AT(index) (index)

// The partial results of the segments. Local memory, as that leaves the registers to the loop over the source; a
// work-item uses places of its own alone.
#define SEGMENT_LOCALS __shared__ partial_t of_segment[MOST_SEGMENTS * GROUP_SIZE];

// The vectors of a segment lie one after the other for all work-items together: its end is the same for all of them.
__device__ inline range_t segment_at(range_t whole, uint number, ulong vectors, ulong more) {
  range_t segment = whole;
  const ulong before = (number * vectors + (number > SEGMENTS_AN_END ? more : 0)) * whole.step;
  const ulong end = whole.start + before + (vectors + (number == SEGMENTS_AN_END ? more : 0)) * whole.step;
  segment.first += before;
  if (end < whole.end) segment.end = end;
  return segment;
}

__device__ inline partial_t all_segments(const partial_t *of_segment, uint segments, uint local_id) {
  partial_t all = of_segment[local_id];
#pragma unroll
  for (uint number = 1; number < MOST_SEGMENTS; ++number) {
    if (number < segments) all = combine(all, of_segment[number * GROUP_SIZE + local_id]);
  }
  return all;
}

#define EACH_SEGMENT(whole) for (uint turn = 0; turn < segments; ++turn)
#define SEGMENT_NUMBER (farthest ? (uint)farthest - turn : turn)
#define SEGMENT_OF(whole) segment_at(whole, SEGMENT_NUMBER, segment_vectors, more_vectors)
#define KEEP_SEGMENT(partial) of_segment[SEGMENT_NUMBER * GROUP_SIZE + local_id] = (partial);
#define ALL_SEGMENTS(partial) all_segments(of_segment, segments, local_id)
