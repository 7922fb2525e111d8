// How many elements are not zero; NaN is not.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  ulong count;
} partial_t;

inline partial_t make_partial(ELEMENT element, ulong position) {
  const partial_t partial = {element != 0};
  return partial;
}

inline partial_t identity(void) {
  const partial_t partial = {0};
  return partial;
}

inline partial_t combine(partial_t a, partial_t b) {
  a.count += b.count;
  return a;
}

#if USES_REDUX
// Combines the partial results of the lanes of a sub-group in `mask`.
inline partial_t combine_lanes(partial_t partial, uint mask) {
  partial.count = redux_add(partial.count, mask);
  return partial;
}
#endif

#if ATOMIC_BITS
// Combines a partial result into one in memory.
inline void combine_into(__global partial_t *memory, partial_t partial) {
  add_into(&memory->count, partial.count);
}
#endif

#if USES_LOCAL_WORDS
// Words of local memory that hold no partial result yet, one combined into them, and what they hold.
inline void empty_words(__local uint *words) {
  empty_sum(words);
}

inline void combine_into_words(__local uint *words, partial_t partial) {
  add_into_words(words, partial.count);
}

inline partial_t partial_of_words(const __local uint *words) {
  partial_t partial;
  partial.count = sum_of_words(words);
  return partial;
}
#endif
