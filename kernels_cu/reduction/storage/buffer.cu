// The source is a buffer: wide loads of raw words, reinterpreted; float16 is read as bits and widened to float32.

#define SOURCE const STORED *__restrict__
// For functions that are always inlined: not every tool (Oclgrind) knows what the qualifier means there.
#define UNRESTRICTED_SOURCE const STORED *

// differs: NVRTC includes no header for halves; the instruction that widens one is all that is needed.
__device__ inline ELEMENT widened(STORED stored) {
#if STORED_IS_HALF
#if HAS_PTX
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(stored));
  return value;
#else
  // The exponent of a float32 is 112 larger; of what is infinite or NaN it is the largest there is.
  const float value = __uint_as_float((stored & 0x7fffu) << 13) * 0x1p112f;
  const uint bits = __float_as_uint(value) | (value >= 65536 ? 0x7f800000u : 0);
  return __uint_as_float(bits | (stored & 0x8000u) << 16);
#endif
#else
  return stored;
#endif
}
// end differs

__device__ inline VECTOR_OF(ELEMENT) load_vector(SOURCE source, ulong index) {
// differs: OpenCL C reinterprets a whole vector and has a built-in load of halves.
  union {
    words_t words;
    STORED element[VECTOR_WIDTH];
  } loaded;
  loaded.words = load_words(source, index);
  VECTOR_OF(ELEMENT) vector;
  EACH_COMPONENT COMPONENT(vector) = widened(loaded.element[component]);
  return vector;
// end differs
}

__device__ inline ELEMENT load_element(SOURCE source, ulong index) {
// differs: OpenCL C has a built-in load of halves.
  return widened(source[index]);
// end differs
}
