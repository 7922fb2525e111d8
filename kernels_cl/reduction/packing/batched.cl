// A work-item computes element by element, on all the loads in flight before what it has so far: less to widen, fewer
// tests on NaN, and no long chain of results that wait for each other.

#ifndef ELEMENT_IS_FLOAT
#error "ELEMENT_IS_FLOAT is not defined"
#endif
#ifndef ELEMENT_BITS
#error "ELEMENT_BITS is not defined"
#endif

#define LOADED VECTOR_OF(ELEMENT)
#define LOAD(source, index) load_vector(source, index)
#define FOLDS_BATCHES 1

// The integer as wide as an element: what a comparison of vectors gives.
#if ELEMENT_BITS == 8
#define AS_WIDE char
#elif ELEMENT_BITS == 16
#define AS_WIDE short
#elif ELEMENT_BITS == 32
#define AS_WIDE int
#else
#define AS_WIDE long
#endif

// Inside a batch the extremes are of numbers only; where it has a NaN, the batch's extreme is NaN.
#if ELEMENT_IS_FLOAT
#define LESSER_NUMBER(x, kept) (((x) < (kept)) ? (x) : (kept))
#define GREATER_NUMBER(x, kept) (((x) > (kept)) ? (x) : (kept))

inline LOADED with_nan(LOADED extreme, const LOADED *batch) {
  VECTOR_OF(AS_WIDE) is_nan;
  EACH_LANE LANE(is_nan) = LANE(batch[0]) != LANE(batch[0]);
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) EACH_LANE LANE(is_nan) |= LANE(batch[k]) != LANE(batch[k]);
  EACH_LANE LANE(extreme) = LANE(is_nan) ? (ELEMENT)(NAN) : LANE(extreme);
  return extreme;
}
#else
#define LESSER_NUMBER(x, kept) LESSER(x, kept)
#define GREATER_NUMBER(x, kept) GREATER(x, kept)

inline LOADED with_nan(LOADED extreme, const LOADED *batch) {
  return extreme;
}
#endif

// The smallest and the largest element of a batch at each place of a vector, in one pass.
ALWAYS_INLINE void extremes_of(const LOADED *batch, LOADED *lowest, LOADED *highest) {
  LOADED least = batch[0], most = batch[0];
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) {
    EACH_LANE LANE(least) = LESSER_NUMBER(LANE(batch[k]), LANE(least));
    EACH_LANE LANE(most) = GREATER_NUMBER(LANE(batch[k]), LANE(most));
  }
  *lowest = with_nan(least, batch);
  *highest = with_nan(most, batch);
}
