// The sum of a term of each element: in integers of 64 bits or in float64.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  TOTAL total;
} partial_t;

__device__ inline partial_t make_partial(ELEMENT element, ulong position) {
  const partial_t partial = {TERM((TOTAL)element)};
  return partial;
}

__device__ inline partial_t identity(void) {
  const partial_t partial = {0};
  return partial;
}

__device__ inline partial_t combine(partial_t a, partial_t b) {
  a.total += b.total;
  return a;
}

#if USES_REDUX
// Combines the partial results of the lanes of a sub-group in `mask`: integers, all of which add as unsigned ones.
__device__ inline partial_t combine_lanes(partial_t partial, uint mask) {
  partial.total = redux_add((ulong)partial.total, mask);
  return partial;
}
#endif

#if ATOMIC_BITS
// Combines a partial result into one in memory, likewise.
__device__ inline void combine_into(partial_t *memory, partial_t partial) {
  add_into((ulong *)&memory->total, (ulong)partial.total);
}
#endif

#if USES_LOCAL_WORDS
// Words of local memory that hold no partial result yet, one combined into them, and what they hold.
__device__ inline void empty_words(uint *words) {
  empty_sum(words);
}

__device__ inline void combine_into_words(uint *words, partial_t partial) {
  add_into_words(words, (ulong)partial.total);
}

__device__ inline partial_t partial_of_words(const uint *words) {
  partial_t partial;
  partial.total = (TOTAL)sum_of_words(words);
  return partial;
}
#endif
