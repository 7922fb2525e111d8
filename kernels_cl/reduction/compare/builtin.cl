// Comparison by what is built in (yan2011: min and max in place of operators). NaN stays, as in NumPy, which fmin and
// fmax would drop: where there is a minimum that keeps it, that; elsewhere a choice that compilers know as the
// processor's own minimum, with NaN on top.

#ifndef ELEMENT_IS_FLOAT
#error "ELEMENT_IS_FLOAT is not defined"
#endif
#ifndef ELEMENT_BITS
#error "ELEMENT_BITS is not defined"
#endif
#ifndef COMPUTE_CAPABILITY
#error "COMPUTE_CAPABILITY is not defined"
#endif

#if !ELEMENT_IS_FLOAT
#define LESSER(x, kept) min(x, kept)
#define GREATER(x, kept) max(x, kept)
#elif ELEMENT_BITS == 32 && COMPUTE_CAPABILITY >= 80
// differs: OpenCL C compares vectors as a whole, so that the functions exist for them too.
#define OVERLOADED __attribute__((overloadable))
// end differs

inline float OVERLOADED lesser(float x, float kept) {
  asm("min.NaN.f32 %0, %1, %0;" : "+f"(kept) : "f"(x));
  return kept;
}

inline float OVERLOADED greater(float x, float kept) {
  asm("max.NaN.f32 %0, %1, %0;" : "+f"(kept) : "f"(x));
  return kept;
}

// differs: only OpenCL C has vectors here; PTX compares one element after the other.
#if VECTOR_WIDTH > 1
inline VECTOR_OF(float) OVERLOADED lesser(VECTOR_OF(float) x, VECTOR_OF(float) kept) {
  float *lanes = (float *)&kept;
#pragma unroll
  for (int at = 0; at < VECTOR_WIDTH; ++at) lanes[at] = lesser(LANE_AT(float, x, at), lanes[at]);
  return kept;
}

inline VECTOR_OF(float) OVERLOADED greater(VECTOR_OF(float) x, VECTOR_OF(float) kept) {
  float *lanes = (float *)&kept;
#pragma unroll
  for (int at = 0; at < VECTOR_WIDTH; ++at) lanes[at] = greater(LANE_AT(float, x, at), lanes[at]);
  return kept;
}
#endif
// end differs

#define LESSER(x, kept) lesser(x, kept)
#define GREATER(x, kept) greater(x, kept)
#else
// What is kept need not wait for the test on NaN; a NaN that is kept stays, for nothing is less or greater.
#define LESSER(x, kept) (((x) != (x)) ? (ELEMENT)(NAN) : (((x) < (kept)) ? (x) : (kept)))
#define GREATER(x, kept) (((x) != (x)) ? (ELEMENT)(NAN) : (((x) > (kept)) ? (x) : (kept)))
#endif
