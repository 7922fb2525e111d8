// The smallest and the largest element and where each is first met. The first NaN is both, as in NumPy.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef KEPT
#error "KEPT is not defined"
#endif
#ifndef ELEMENT_IS_FLOAT
#error "ELEMENT_IS_FLOAT is not defined"
#endif
#ifndef LOWEST
#error "LOWEST is not defined"
#endif
#ifndef HIGHEST
#error "HIGHEST is not defined"
#endif
#ifndef STORED
#error "STORED is not defined"
#endif
#ifndef VECTOR_WIDTH
#error "VECTOR_WIDTH is not defined"
#endif

// Whether x takes the place of what is kept: nothing takes the place of a NaN.
#if ELEMENT_IS_FLOAT
#define IS_LOWER(x, kept) (!((x) >= (kept)) & ((kept) == (kept)))
#define IS_HIGHER(x, kept) (!((x) <= (kept)) & ((kept) == (kept)))
#define IS_SAME(x, kept) (((x) == (kept)) | (((x) != (x)) & ((kept) != (kept))))
#else
#define IS_LOWER(x, kept) ((x) < (kept))
#define IS_HIGHER(x, kept) ((x) > (kept))
#define IS_SAME(x, kept) ((x) == (kept))
#endif

// What a work-item, a group, a launch hands on.
typedef struct {
  KEPT lowest;
  KEPT highest;
  ulong lowest_at;
  ulong highest_at;
} partial_t;

__device__ inline partial_t lifted(ELEMENT element, ulong position) {
  partial_t partial;
  partial.lowest = element;
  partial.highest = element;
  partial.lowest_at = position;
  partial.highest_at = position;
  return partial;
}

// The place 0 is right for these values, too: they are the answer only where all elements are the same.
__device__ inline partial_t none(void) {
  partial_t partial;
  partial.lowest = HIGHEST;
  partial.highest = LOWEST;
  partial.lowest_at = 0;
  partial.highest_at = 0;
  return partial;
}

__device__ inline partial_t combined(partial_t a, partial_t b) {
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

// Work-items keep the places of vectors only; here, once for a group, each becomes that of the first element in its
// vector that is the one. All loads are independent, and the last match is the first element.
__device__ inline partial_t located(partial_t partial, SOURCE source, ulong length) {
  const ulong lowest_from = partial.lowest_at;
  const ulong highest_from = partial.highest_at;
#pragma unroll
  for (int at = VECTOR_WIDTH - 1; at >= 0; --at) {
    if (lowest_from + at < length && IS_SAME(load_element(source, lowest_from + at), partial.lowest)) {
      partial.lowest_at = lowest_from + at;
    }
    if (highest_from + at < length && IS_SAME(load_element(source, highest_from + at), partial.highest)) {
      partial.highest_at = highest_from + at;
    }
  }
  return partial;
}
