// Every second call takes the segments of what a work-item reads from the last to the first, and so begins with what
// the call before has left in the caches. Within a segment each call goes forward, and a tree that is the same from
// either end combines the segments: a sum of floats is the same in each call.

// farthest: the number of the last segment; 0 in a call that goes forward.
// segment_vectors: those that a work-item reads of a segment, a multiple of LOADS_IN_FLIGHT.
#define TRAVERSAL_PARAMETERS , const ulong farthest, const ulong segment_vectors
#define TRAVERSAL_LOCALS(type)
#define GROUP_AT(group) (group)
#define AT(index) (index)

// The leaves of the tree: the segments from either end, then empty ones.
#define LEAVES (1u << SEGMENT_LEVELS)

// Of each level of the tree what waits for its other half. Local memory, as that leaves the registers to the loop over
// the source; a work-item uses places of its own alone.
#define SEGMENT_LOCALS __local partial_t halves[(SEGMENT_LEVELS + 1) * GROUP_SIZE];

inline void empty_halves(__local partial_t *halves, uint local_id) {
  for (uint level = 0; level <= SEGMENT_LEVELS; ++level) halves[level * GROUP_SIZE + local_id] = identity();
}

// leaf: counted from the end of the tree that this call begins with.
inline void keep_segment(__local partial_t *halves, partial_t segment, uint leaf, uint local_id) {
  uint place = local_id;
  for (; leaf & 1; leaf >>= 1) {
    segment = combine(halves[place], segment);
    place += GROUP_SIZE;
  }
  halves[place] = segment;
}

// leaves: how many there were.
inline partial_t all_segments(const __local partial_t *halves, uint leaves, uint local_id) {
  partial_t all = identity();
  for (uint place = local_id; leaves; leaves >>= 1) {
    if (leaves & 1) all = combine(halves[place], all);
    place += GROUP_SIZE;
  }
  return all;
}

inline range_t segment_at(range_t whole, ulong number, ulong reach) {
  range_t segment = whole;
  segment.first += number * reach;
  if (segment.first + reach < whole.end) segment.end = segment.first + reach;
  return segment;
}

#define EACH_SEGMENT(whole)                                            \
  empty_halves(halves, local_id);                                      \
  const ulong reach = segment_vectors * whole.step;                    \
  const uint first_leaf = farthest ? LEAVES - 1 - (uint)farthest : 0;  \
  uint segment = 0;                                                    \
  for (; farthest ? segment <= farthest : whole.first + segment * reach < whole.end; ++segment)
#define SEGMENT_OF(whole) segment_at(whole, farthest ? farthest - segment : segment, reach)
#define KEEP_SEGMENT(partial) keep_segment(halves, partial, first_leaf + segment, local_id);
#define ALL_SEGMENTS(partial) all_segments(halves, first_leaf + segment, local_id)
