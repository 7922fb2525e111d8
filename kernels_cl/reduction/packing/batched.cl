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

inline LOADED with_nan(LOADED extreme, const LOADED *batch) {
  VECTOR_OF(AS_WIDE) is_nan;
  EACH_COMPONENT COMPONENT(is_nan) = COMPONENT(batch[0]) != COMPONENT(batch[0]);
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k)
    EACH_COMPONENT COMPONENT(is_nan) |= COMPONENT(batch[k]) != COMPONENT(batch[k]);
  EACH_COMPONENT COMPONENT(extreme) = COMPONENT(is_nan) ? (ELEMENT)(NAN) : COMPONENT(extreme);
  return extreme;
}
#else
#define LESSER_NUMBER(x, kept) LESSER(x, kept)
#define GREATER_NUMBER(x, kept) GREATER(x, kept)

inline LOADED with_nan(LOADED extreme, const LOADED *batch) {
  return extreme;
}
#endif

// The smallest and the largest element of a batch in each component, in one pass.
ALWAYS_INLINE void extremes_of(const LOADED *batch, LOADED *lowest, LOADED *highest) {
  LOADED least = batch[0], most = batch[0];
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) {
    EACH_COMPONENT COMPONENT(least) = LESSER_NUMBER(COMPONENT(batch[k]), COMPONENT(least));
    EACH_COMPONENT COMPONENT(most) = GREATER_NUMBER(COMPONENT(batch[k]), COMPONENT(most));
  }
  *lowest = with_nan(least, batch);
  *highest = with_nan(most, batch);
}
