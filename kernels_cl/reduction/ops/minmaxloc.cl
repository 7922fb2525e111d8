// The smallest and the largest element and where each is first met. The first NaN is both, as in NumPy.

// Whether x replaces the value that is kept; nothing replaces a NaN.
#if ELEMENT_IS_FLOAT
#define IS_LOWER(x, kept) (!((x) >= (kept)) & ((kept) == (kept)))
#define IS_HIGHER(x, kept) (!((x) <= (kept)) & ((kept) == (kept)))
#define IS_SAME(x, kept) (((x) == (kept)) | (((x) != (x)) & ((kept) != (kept))))
#else
#define IS_LOWER(x, kept) ((x) < (kept))
#define IS_HIGHER(x, kept) ((x) > (kept))
#define IS_SAME(x, kept) ((x) == (kept))
#endif

// The extremes that a work-item has found, and their positions.
typedef struct {
  KEPT lowest;
  KEPT highest;
  POSITION lowest_at;
  POSITION highest_at;
} found_t;

// Position 0 is right for these values, too: they are the answer only where all elements are equal.
inline found_t nothing(void) {
  found_t found;
  found.lowest = HIGHEST;
  found.highest = LOWEST;
  found.lowest_at = 0;
  found.highest_at = 0;
  return found;
}

#if ELEMENT_BITS <= 32
// A value as an unsigned number in the order of the values. -0.0 equals 0.0; NaN becomes `of_nan`, beyond all numbers
// at the end that is looked for.
inline uint in_order(KEPT value, uint of_nan) {
#if ELEMENT_IS_FLOAT
  const int bits = value == 0 ? 0 : FLOAT_BITS(value);
  return value != value ? of_nan : (uint)bits ^ ((uint)(bits >> 31) | 0x80000000u);
#elif LOWEST < 0
  return (uint)value ^ 0x80000000u;
#else
  return value;
#endif
}
#endif

#if IS_KEYED
// A partial result. Value and position are one number, the key: the upper half is the value as an unsigned number in
// the order of the values, the lower half the position, complemented for the highest. So the least key is the first of
// the lowest values and the greatest key the first of the highest, which atomics and sub-group instructions can
// compute.
typedef struct {
  ulong lowest;
  ulong highest;
} partial_t;

inline partial_t partial_of(found_t found) {
  const partial_t partial = {(ulong)in_order(found.lowest, 0u) << 32 | found.lowest_at,
                             (ulong)in_order(found.highest, 0xffffffffu) << 32 | (uint)~found.highest_at};
  return partial;
}

// What partial_of was given. Only packed integers need it.
inline found_t found_in(partial_t partial) {
  const KEPT lowest = in_order((KEPT)(partial.lowest >> 32), 0u);
  const KEPT highest = in_order((KEPT)(partial.highest >> 32), 0u);
  const found_t found = {lowest, highest, (uint)partial.lowest, (uint)~partial.highest};
  return found;
}

inline partial_t identity(void) {
  const partial_t partial = {~(ulong)0, 0};
  return partial;
}

inline partial_t combine(partial_t a, partial_t b) {
  a.lowest = b.lowest < a.lowest ? b.lowest : a.lowest;
  a.highest = b.highest > a.highest ? b.highest : a.highest;
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
#else
// A partial result: of a work-item, a group or a launch.
typedef found_t partial_t;

inline partial_t partial_of(found_t found) {
  return found;
}

inline found_t found_in(partial_t partial) {
  return partial;
}

inline partial_t identity(void) {
  return nothing();
}

inline partial_t combine(partial_t a, partial_t b) {
  if (IS_LOWER(b.lowest, a.lowest) | (IS_SAME(b.lowest, a.lowest) & (b.lowest_at < a.lowest_at))) {
    a.lowest = b.lowest;
    a.lowest_at = b.lowest_at;
  }
  if (IS_HIGHER(b.highest, a.highest) | (IS_SAME(b.highest, a.highest) & (b.highest_at < a.highest_at))) {
    a.highest = b.highest;
    a.highest_at = b.highest_at;
  }
  return a;
}

#if USES_REDUX
// Combines the partial results of the lanes of a sub-group in `mask`: each extreme, then its lowest position among the
// lanes that have it.
inline partial_t combine_lanes(partial_t own, uint mask) {
  partial_t all;
  all.lowest = redux_min(own.lowest, mask);
  all.lowest_at = redux_min(IS_SAME(own.lowest, all.lowest) ? own.lowest_at : (POSITION)-1, mask);
  all.highest = redux_max(own.highest, mask);
  all.highest_at = redux_min(IS_SAME(own.highest, all.highest) ? own.highest_at : (POSITION)-1, mask);
  return all;
}
#endif
#endif

inline partial_t make_partial(ELEMENT element, ulong position) {
  const found_t found = {element, element, (POSITION)position, (POSITION)position};
  return partial_of(found);
}
