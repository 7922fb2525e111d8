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
#define COMPARES_WORDS 0

__device__ inline uint word_at(words_t words, int at) {
  return words.word[at];
}

__device__ inline uint lesser_pair(uint pair, uint kept) {
#if LOWEST < 0
  return __vmins2(pair, kept);
#else
  return __vminu2(pair, kept);
#endif
}

__device__ inline uint greater_pair(uint pair, uint kept) {
#if LOWEST < 0
  return __vmaxs2(pair, kept);
#else
  return __vmaxu2(pair, kept);
#endif
}

#define ADDS_UP_WORDS 1
__device__ inline uint added_unsigned(uint word, uint sum) {
#if ELEMENT_BITS == 8
  return __dp4a(word, 0x01010101u, sum);
#else
  return __dp2a_lo(word, 0x0101u, sum);
#endif
}

__device__ inline int added_signed(uint word, int sum) {
#if ELEMENT_BITS == 8
  return __dp4a((int)word, 0x01010101, sum);
#else
  return __dp2a_lo((int)word, 0x0101, sum);
#endif
}
// end differs

// The extreme of what is kept and one more word. Bytes are compared as the upper bytes of 16-bit integers, whatever the
// lower bytes hold; the word shifted by 8 bits gives the other bytes.
__device__ inline uint lowered(uint word, uint kept) {
  kept = lesser_pair(word, kept);
#if COMPARES_WORDS
#pragma unroll
  for (int bits = ELEMENT_BITS; bits < 32; bits += ELEMENT_BITS) kept = lesser_pair(word << bits, kept);
#elif ELEMENT_BITS == 8
  kept = lesser_pair(word << 8, kept);
#endif
  return kept;
}

__device__ inline uint raised(uint word, uint kept) {
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
__device__ inline ELEMENT element_of(uint kept, int at) {
#if COMPARES_WORDS
  at = 1;
#endif
  return (ELEMENT)(kept >> (16 * at + 16 - ELEMENT_BITS));
}
