// The sum of a term of each element: in integers of 64 bits or in float64.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  TOTAL total;
} partial_t;

inline partial_t make_partial(ELEMENT element, ulong position) {
  const partial_t partial = {TERM((TOTAL)element)};
  return partial;
}

inline partial_t identity(void) {
  const partial_t partial = {0};
  return partial;
}

inline partial_t combine(partial_t a, partial_t b) {
  a.total += b.total;
  return a;
}

#if USES_REDUX
// Combines the partial results of the lanes of a sub-group in `mask`: integers, all of which add as unsigned ones.
inline partial_t combine_lanes(partial_t partial, uint mask) {
  partial.total = redux_add((ulong)partial.total, mask);
  return partial;
}
#endif

#if ATOMIC_BITS
// Combines a partial result into one in memory, likewise.
inline void combine_into(__global partial_t *memory, partial_t partial) {
  add_into((__global ulong *)&memory->total, (ulong)partial.total);
}
#endif

#if USES_LOCAL_WORDS
// Words of local memory that hold no partial result yet, one combined into them, and what they hold.
inline void empty_words(__local uint *words) {
  empty_sum(words);
}

inline void combine_into_words(__local uint *words, partial_t partial) {
  add_into_words(words, (ulong)partial.total);
}

inline partial_t partial_of_words(const __local uint *words) {
  partial_t partial;
  partial.total = (TOTAL)sum_of_words(words);
  return partial;
}
#endif
