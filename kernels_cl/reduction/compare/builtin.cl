// Comparison by built-in functions (yan2011: min and max in place of operators). NaN stays, as in NumPy, though fmin
// and fmax would drop it: by the minimum that keeps NaN where there is one; elsewhere by a selection that compilers
// translate to the processor's own minimum, and a test for NaN.

// On a GPU without that minimum, where the numbers' own is one instruction.
#define TRACKS_NAN (ELEMENT_IS_FLOAT && ELEMENT_BITS == 32 && COMPUTE_CAPABILITY < 80 && GROUP_SIZE > 1)

#if !ELEMENT_IS_FLOAT
#define LESSER(x, kept) min(x, kept)
#define GREATER(x, kept) max(x, kept)
#elif ELEMENT_BITS == 32 && COMPUTE_CAPABILITY >= 80
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
  float *components = (float *)&kept;
#pragma unroll
  for (int at = 0; at < VECTOR_WIDTH; ++at) components[at] = lesser(COMPONENT_AT(float, x, at), components[at]);
  return kept;
}

inline VECTOR_OF(float) OVERLOADED greater(VECTOR_OF(float) x, VECTOR_OF(float) kept) {
  float *components = (float *)&kept;
#pragma unroll
  for (int at = 0; at < VECTOR_WIDTH; ++at) components[at] = greater(COMPONENT_AT(float, x, at), components[at]);
  return kept;
}
#endif
// end differs

#define LESSER(x, kept) lesser(x, kept)
#define GREATER(x, kept) greater(x, kept)
#elif IS_PORTABLE
// One selection, and one test for NaN that both extremes share. A NaN that is kept stays, as below.
#define LESSER(x, kept) ((((x) < (kept)) | ((x) != (x))) ? (x) : (kept))
#define GREATER(x, kept) ((((x) > (kept)) | ((x) != (x))) ? (x) : (kept))
#else
// The test for NaN is of x alone, so that it does not depend on the result before; a NaN that is kept stays, because no
// element is less or greater.
#define LESSER(x, kept) (((x) != (x)) ? (ELEMENT)(NAN) : (((x) < (kept)) ? (x) : (kept)))
#define GREATER(x, kept) (((x) != (x)) ? (ELEMENT)(NAN) : (((x) > (kept)) ? (x) : (kept)))
#endif
