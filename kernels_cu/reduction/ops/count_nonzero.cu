// How many elements are not zero; NaN is not.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  ulong count;
} partial_t;

__device__ inline partial_t make_partial(ELEMENT element, ulong position) {
  const partial_t partial = {element != 0};
  return partial;
}

__device__ inline partial_t identity(void) {
  const partial_t partial = {0};
  return partial;
}

__device__ inline partial_t combine(partial_t a, partial_t b) {
  a.count += b.count;
  return a;
}

#if USES_REDUX
// Combines the partial results of the lanes of a sub-group in `mask`.
__device__ inline partial_t combine_lanes(partial_t partial, uint mask) {
  partial.count = redux_add(partial.count, mask);
  return partial;
}
#endif

#if ATOMIC_BITS
// Combines a partial result into one in memory.
__device__ inline void combine_into(partial_t *memory, partial_t partial) {
  add_into(&memory->count, partial.count);
}
#endif

#if USES_LOCAL_WORDS
// Words of local memory that hold no partial result yet, one combined into them, and what they hold.
__device__ inline void empty_words(uint *words) {
  empty_sum(words);
}

__device__ inline void combine_into_words(uint *words, partial_t partial) {
  add_into_words(words, partial.count);
}

__device__ inline partial_t partial_of_words(const uint *words) {
  partial_t partial;
  partial.count = sum_of_words(words);
  return partial;
}
#endif
