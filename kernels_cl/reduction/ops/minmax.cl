// The smallest and the largest element in one pass.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  KEPT lowest;
  KEPT highest;
} partial_t;

inline partial_t make_partial(ELEMENT element, ulong position) {
  const partial_t partial = {element, element};
  return partial;
}

inline partial_t identity(void) {
  const partial_t partial = {HIGHEST, LOWEST};
  return partial;
}

inline partial_t combine(partial_t a, partial_t b) {
  a.lowest = LESSER(b.lowest, a.lowest);
  a.highest = GREATER(b.highest, a.highest);
  return a;
}

#if USES_REDUX
// Combines the partial results of the lanes of a sub-group in `mask`.
inline partial_t combine_lanes(partial_t partial, uint mask) {
  partial.lowest = redux_min(partial.lowest, mask);
  partial.highest = redux_max(partial.highest, mask);
  return partial;
}
#endif

#if ATOMIC_BITS
// Combines a partial result into one in memory.
inline void combine_into(__global partial_t *memory, partial_t partial) {
  min_into(&memory->lowest, partial.lowest);
  max_into(&memory->highest, partial.highest);
}
#endif

#if USES_LOCAL_WORDS
// Words of local memory that hold no partial result yet, one combined into them, and what they hold.
inline void empty_words(__local uint *words) {
  words[0] = LEAST_AT_FIRST;
  words[1] = GREATEST_AT_FIRST;
}

inline void combine_into_words(__local uint *words, partial_t partial) {
  LESSER_INTO(words, partial.lowest);
  GREATER_INTO(words + 1, partial.highest);
}

inline partial_t partial_of_words(const __local uint *words) {
  partial_t partial;
  partial.lowest = value_of(words[0], (KEPT)0);
  partial.highest = value_of(words[1], (KEPT)0);
  return partial;
}
#endif
