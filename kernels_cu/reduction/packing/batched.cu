// A work-item combines the elements of all its loads in flight (a batch) before it adds them to its accumulator: fewer
// elements are widened and tested for NaN, and fewer operations wait for the one before.

#define LOADED VECTOR_OF(ELEMENT)
#define LOAD(source, index) load_vector(source, index)
#define ACCUMULATES_BATCHES 1

// The integer as wide as an element: the type of a comparison of vectors.
#if ELEMENT_BITS == 8
#define AS_WIDE char
#elif ELEMENT_BITS == 16
#define AS_WIDE short
#elif ELEMENT_BITS == 32
#define AS_WIDE int
#else
#define AS_WIDE long
#endif

// Inside a batch the extremes are of numbers only; if the batch has a NaN, its extreme is NaN.
#if ELEMENT_IS_FLOAT
#define LESSER_NUMBER(x, kept) (((x) < (kept)) ? (x) : (kept))
#define GREATER_NUMBER(x, kept) (((x) > (kept)) ? (x) : (kept))
// One comparison tests two elements.
#define HAVE_NAN(x, y) (!(((x) <= (y)) | ((x) > (y))))
#else
#define LESSER_NUMBER(x, kept) LESSER(x, kept)
#define GREATER_NUMBER(x, kept) GREATER(x, kept)
#endif

// In which components a batch has a NaN.
ALWAYS_INLINE VECTOR_OF(AS_WIDE) nan_in(const LOADED *batch) {
  VECTOR_OF(AS_WIDE) is_nan;
  EACH_COMPONENT COMPONENT(is_nan) = 0;
#if ELEMENT_IS_FLOAT
#pragma unroll
  for (int k = 0; k < LOADS_IN_FLIGHT; k += 2) {
    const int other = k + 1 < LOADS_IN_FLIGHT ? k + 1 : k;
    EACH_COMPONENT COMPONENT(is_nan) |= HAVE_NAN(COMPONENT(batch[k]), COMPONENT(batch[other]));
  }
#endif
  return is_nan;
}

ALWAYS_INLINE LOADED with_nan(LOADED extreme, VECTOR_OF(AS_WIDE) is_nan) {
#if ELEMENT_IS_FLOAT
  EACH_COMPONENT COMPONENT(extreme) = COMPONENT(is_nan) ? (ELEMENT)(NAN) : COMPONENT(extreme);
#endif
  return extreme;
}

// The smallest and the largest number of a batch in each component, in one pass.
ALWAYS_INLINE void extremes_of(const LOADED *batch, LOADED *lowest, LOADED *highest) {
  LOADED least = batch[0], most = batch[0];
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) {
    EACH_COMPONENT COMPONENT(least) = LESSER_NUMBER(COMPONENT(batch[k]), COMPONENT(least));
    EACH_COMPONENT COMPONENT(most) = GREATER_NUMBER(COMPONENT(batch[k]), COMPONENT(most));
  }
  *lowest = least;
  *highest = most;
}
