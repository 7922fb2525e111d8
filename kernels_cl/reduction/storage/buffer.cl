// The source is a buffer: wide loads of raw words, reinterpreted; float16 is read as bits and widened to float32.

#define SOURCE __global const STORED *restrict
// For functions that are always inlined: not every tool (Oclgrind) knows what the qualifier means there.
#define UNRESTRICTED_SOURCE __global const STORED *

// differs: NVRTC includes no header for halves; the instruction that widens one is all that is needed.
// end differs

inline VECTOR_OF(ELEMENT) load_vector(SOURCE source, ulong index) {
// differs: OpenCL C reinterprets a whole vector and has a built-in load of halves.
#if STORED_IS_HALF && VECTOR_WIDTH == 1
  return vload_half(index, (__global const half *)source);
#elif STORED_IS_HALF
  return JOIN(vload_half, VECTOR_WIDTH)(index, (__global const half *)source);
#elif IS_PORTABLE && ELEMENT_BITS < 32 && VECTOR_BYTES >= 4 && GROUP_SIZE > 1
  // By shifts: NVIDIA's compiler would split the load of a vector of narrow elements. Groups of one work-item are for
  // processors, which compute on whole vectors.
  const words_t words = load_words(source, index);
  VECTOR_OF(ELEMENT) vector;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) {
    const uint word = ((const uint *)&words)[i * ELEMENT_BITS / 32];
    ((ELEMENT *)&vector)[i] = (ELEMENT)(word >> (i * ELEMENT_BITS % 32));
  }
  return vector;
#else
  return REINTERPRET(ELEMENT, load_words(source, index));
#endif
// end differs
}

inline ELEMENT load_element(SOURCE source, ulong index) {
// differs: OpenCL C has a built-in load of halves.
#if STORED_IS_HALF
  return vload_half(index, (__global const half *)source);
#else
  return source[index];
#endif
// end differs
}
