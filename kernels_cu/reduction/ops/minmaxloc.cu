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
  PLACE lowest_at;
  PLACE highest_at;
} found_t;

// Position 0 is right for these values, too: they are the answer only where all elements are equal.
__device__ inline found_t nothing(void) {
  found_t found;
  found.lowest = HIGHEST;
  found.highest = LOWEST;
  found.lowest_at = 0;
  found.highest_at = 0;
  return found;
}

#if IS_KEYED
// A partial result. Value and position are one number, the key: the upper half is the value as an unsigned number in
// the order of the values, the lower half the position, complemented for the highest. So the least key is the first of
// the lowest values and the greatest key the first of the highest, which atomics and sub-group instructions can
// compute.
typedef struct {
  ulong lowest;
  ulong highest;
} partial_t;

#if ELEMENT_IS_FLOAT
// differs: OpenCL C has another name for the bits of a float.
#define BITS_OF(value) __float_as_int(value)
// end differs

// The bits of a value as an unsigned number in the order of the values. -0.0 equals 0.0; NaN becomes `of_nan`, beyond
// all numbers at the end that is looked for.
__device__ inline uint in_order(KEPT value, uint of_nan) {
  const int bits = value == 0 ? 0 : BITS_OF(value);
  return value != value ? of_nan : (uint)bits ^ ((uint)(bits >> 31) | 0x80000000u);
}
#else
__device__ inline uint in_order(KEPT value, uint of_nan) {
#if LOWEST < 0
  return (uint)value ^ 0x80000000u;
#else
  return value;
#endif
}
#endif
#define LOWEST_IN_ORDER(value) in_order(value, 0u)
#define HIGHEST_IN_ORDER(value) in_order(value, 0xffffffffu)

__device__ inline partial_t partial_of(found_t found) {
  partial_t partial;
  partial.lowest = (ulong)LOWEST_IN_ORDER(found.lowest) << 32 | found.lowest_at;
  partial.highest = (ulong)HIGHEST_IN_ORDER(found.highest) << 32 | (uint)~found.highest_at;
  return partial;
}

__device__ inline partial_t identity(void) {
  partial_t partial;
  partial.lowest = ~(ulong)0;
  partial.highest = 0;
  return partial;
}

__device__ inline partial_t combine(partial_t a, partial_t b) {
  a.lowest = b.lowest < a.lowest ? b.lowest : a.lowest;
  a.highest = b.highest > a.highest ? b.highest : a.highest;
  return a;
}

#define LOWEST_AT(partial) ((uint)(partial).lowest)
#define HIGHEST_AT(partial) ((uint) ~(partial).highest)
#define IS_LOWEST(x, partial) (LOWEST_IN_ORDER(x) == (uint)((partial).lowest >> 32))
#define IS_HIGHEST(x, partial) (HIGHEST_IN_ORDER(x) == (uint)((partial).highest >> 32))

__device__ inline partial_t placed(partial_t partial, ulong lowest_at, ulong highest_at) {
  partial.lowest = partial.lowest >> 32 << 32 | (uint)lowest_at;
  partial.highest = partial.highest >> 32 << 32 | (uint)~highest_at;
  return partial;
}
#else
// A partial result: of a work-item, a group or a launch.
typedef found_t partial_t;

__device__ inline partial_t partial_of(found_t found) {
  return found;
}

__device__ inline partial_t identity(void) {
  return nothing();
}

__device__ inline partial_t combine(partial_t a, partial_t b) {
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

#define LOWEST_AT(partial) (partial).lowest_at
#define HIGHEST_AT(partial) (partial).highest_at
#define IS_LOWEST(x, partial) IS_SAME(x, (partial).lowest)
#define IS_HIGHEST(x, partial) IS_SAME(x, (partial).highest)

__device__ inline partial_t placed(partial_t partial, ulong lowest_at, ulong highest_at) {
  partial.lowest_at = lowest_at;
  partial.highest_at = highest_at;
  return partial;
}
#endif

__device__ inline partial_t make_partial(ELEMENT element, ulong position) {
  found_t found;
  found.lowest = element;
  found.highest = element;
  found.lowest_at = position;
  found.highest_at = position;
  return partial_of(found);
}
