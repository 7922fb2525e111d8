// The largest element.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  KEPT highest;
} partial_t;

__device__ inline partial_t make_partial(ELEMENT element, ulong position) {
  const partial_t partial = {element};
  return partial;
}

__device__ inline partial_t identity(void) {
  const partial_t partial = {LOWEST};
  return partial;
}

__device__ inline partial_t combine(partial_t a, partial_t b) {
  a.highest = GREATER(b.highest, a.highest);
  return a;
}

#if USES_REDUX
// Combines the partial results of the lanes of a sub-group in `mask`.
__device__ inline partial_t combine_lanes(partial_t partial, uint mask) {
  partial.highest = redux_max(partial.highest, mask);
  return partial;
}
#endif

#if ATOMIC_BITS
// Combines a partial result into one in memory.
__device__ inline void combine_into(partial_t *memory, partial_t partial) {
  max_into(&memory->highest, partial.highest);
}
#endif

#if USES_LOCAL_WORDS
// Words of local memory that hold no partial result yet, one combined into them, and what they hold.
__device__ inline void empty_words(uint *words) {
  words[0] = GREATEST_AT_FIRST;
}

__device__ inline void combine_into_words(uint *words, partial_t partial) {
  GREATER_INTO(words, partial.highest);
}

__device__ inline partial_t partial_of_words(const uint *words) {
  partial_t partial;
  partial.highest = value_of(words[0], (KEPT)0);
  return partial;
}
#endif
