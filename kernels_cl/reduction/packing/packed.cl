// A work-item computes on the 32-bit words that it loads, each of which holds two or four integers of 16 or 8 bits.

#define LOADED words_t
#define LOAD(source, index) load_words(source, index)
#define ACCUMULATES_BATCHES 0
#define WORDS (VECTOR_BYTES / 4)

// Pairs of the lowest and of the highest 16-bit integers, signed as the elements are.
#if LOWEST < 0
#define LOWEST_PAIR 0x80008000u
#define HIGHEST_PAIR 0x7fff7fffu
#else
#define LOWEST_PAIR 0u
#define HIGHEST_PAIR 0xffffffffu
#endif

// differs: OpenCL C has vectors of pairs, and on NVIDIA takes PTX; CUDA C++ has functions for words.
// Few GPUs have instructions for pairs that compilers find by themselves. Portable text compares whole words, for their
// highest element alone; the other elements are shifted to its place.
#define COMPARES_WORDS IS_PORTABLE
inline uint word_at(words_t words, int at) {
  return ((const uint *)&words)[at];
}

#if COMPUTE_CAPABILITY >= 90
#if LOWEST < 0
#define OF_PAIRS(what) what ".s16x2 %0, %1, %0;"
#else
#define OF_PAIRS(what) what ".u16x2 %0, %1, %0;"
#endif

inline uint lesser_pair(uint pair, uint kept) {
  asm(OF_PAIRS("min") : "+r"(kept) : "r"(pair));
  return kept;
}

inline uint greater_pair(uint pair, uint kept) {
  asm(OF_PAIRS("max") : "+r"(kept) : "r"(pair));
  return kept;
}
#else
#if COMPARES_WORDS && LOWEST < 0
#define AS_PAIR(word) as_int(word)
#elif COMPARES_WORDS
#define AS_PAIR(word) as_uint(word)
#elif LOWEST < 0
#define AS_PAIR(word) as_short2(word)
#else
#define AS_PAIR(word) as_ushort2(word)
#endif

inline uint lesser_pair(uint pair, uint kept) {
  return as_uint(min(AS_PAIR(pair), AS_PAIR(kept)));
}

inline uint greater_pair(uint pair, uint kept) {
  return as_uint(max(AS_PAIR(pair), AS_PAIR(kept)));
}
#endif

#define ADDS_UP_WORDS (COMPUTE_CAPABILITY >= 61)
#if ADDS_UP_WORDS
#if ELEMENT_BITS == 8
#define ADD_EACH(sign) "dp4a." sign "32." sign "32 %0, %1, 0x01010101, %0;"
#else
#define ADD_EACH(sign) "dp2a.lo." sign "32." sign "32 %0, %1, 0x0101, %0;"
#endif

inline uint added_unsigned(uint word, uint sum) {
  asm(ADD_EACH("u") : "+r"(sum) : "r"(word));
  return sum;
}

inline int added_signed(uint word, int sum) {
  asm(ADD_EACH("s") : "+r"(sum) : "r"(word));
  return sum;
}
#elif ELEMENT_BITS == 8
inline uint added_unsigned(uint word, uint sum) {
  const uchar4 each = as_uchar4(word);
  return sum + each.x + each.y + each.z + each.w;
}

inline int added_signed(uint word, int sum) {
  const char4 each = as_char4(word);
  return sum + each.x + each.y + each.z + each.w;
}
#else
inline uint added_unsigned(uint word, uint sum) {
  const ushort2 each = as_ushort2(word);
  return sum + each.x + each.y;
}

inline int added_signed(uint word, int sum) {
  const short2 each = as_short2(word);
  return sum + each.x + each.y;
}
#endif
// end differs

// The extreme of what is kept and one more word. Bytes are compared as the upper bytes of 16-bit integers, whatever the
// lower bytes hold; the word shifted by 8 bits gives the other bytes.
inline uint lowered(uint word, uint kept) {
  kept = lesser_pair(word, kept);
#if COMPARES_WORDS
#pragma unroll
  for (int bits = ELEMENT_BITS; bits < 32; bits += ELEMENT_BITS) kept = lesser_pair(word << bits, kept);
#elif ELEMENT_BITS == 8
  kept = lesser_pair(word << 8, kept);
#endif
  return kept;
}

inline uint raised(uint word, uint kept) {
  kept = greater_pair(word, kept);
#if COMPARES_WORDS
#pragma unroll
  for (int bits = ELEMENT_BITS; bits < 32; bits += ELEMENT_BITS) kept = greater_pair(word << bits, kept);
#elif ELEMENT_BITS == 8
  kept = greater_pair(word << 8, kept);
#endif
  return kept;
}

// Element 0 or 1 of a pair that is kept. Of a word it is the highest.
inline ELEMENT element_of(uint kept, int at) {
#if COMPARES_WORDS
  at = 1;
#endif
  return (ELEMENT)(kept >> (16 * at + 16 - ELEMENT_BITS));
}
