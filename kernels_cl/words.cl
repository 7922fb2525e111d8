// A vector as the memory system sees it: VECTOR_BYTES raw bytes, moved by the widest loads there are, 16 bytes each.

#ifndef VECTOR_BYTES
#error "VECTOR_BYTES is not defined"
#endif

// differs: OpenCL C has vector types up to 128 bytes; CUDA C++ has 16-byte loads and arrays.
#if VECTOR_BYTES == 1
typedef uchar words_t;
#elif VECTOR_BYTES == 2
typedef ushort words_t;
#elif VECTOR_BYTES == 4
typedef uint words_t;
#elif VECTOR_BYTES == 8
typedef uint2 words_t;
#elif VECTOR_BYTES == 16
typedef uint4 words_t;
#elif VECTOR_BYTES == 32
typedef uint8 words_t;
#elif VECTOR_BYTES == 64
typedef uint16 words_t;
#elif VECTOR_BYTES == 128
typedef ulong16 words_t;
#else
#error "VECTOR_BYTES must be a power of two from 1 to 128"
#endif

inline words_t load_words(__global const void *source, ulong index) {
  return ((__global const words_t *)source)[index];
}

inline void store_words(__global void *destination, ulong index, words_t words) {
  ((__global words_t *)destination)[index] = words;
}

inline words_t no_words(void) {
  return (words_t)(0);
}

inline words_t xor_words(words_t a, words_t b) {
  return a ^ b;
}

inline uint folded_words(words_t words) {
#if VECTOR_BYTES < 4
  return words;
#else
  uint folded = 0;
  for (int i = 0; i < VECTOR_BYTES / 4; ++i) folded ^= ((const uint *)&words)[i];
  return folded;
#endif
}
// end differs
