// Loads and stores of VECTOR_BYTES raw bytes, by the widest instructions there are: 16 bytes each, with the hint to the
// caches that cache_hint defines.

// differs: OpenCL C has vector types up to 128 bytes; CUDA C++ has 16-byte loads and arrays.
#if VECTOR_BYTES == 1
typedef uchar load_t;
#elif VECTOR_BYTES == 2
typedef ushort load_t;
#elif VECTOR_BYTES == 4
typedef uint load_t;
#elif VECTOR_BYTES == 8
typedef uint2 load_t;
#else
typedef uint4 load_t;
#endif
#if VECTOR_BYTES < 4
typedef load_t word_t;
#else
typedef uint word_t;
#endif

struct words_t {
  union {
    load_t load[VECTOR_BYTES / sizeof(load_t)];
    word_t word[VECTOR_BYTES / sizeof(word_t)];
  };
};

__device__ inline words_t load_words(const void *source, ulong index) {
  const load_t *from = (const load_t *)source + index * (VECTOR_BYTES / sizeof(load_t));
  words_t words;
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / sizeof(load_t); ++i) words.load[i] = LOAD_WORDS(from + i);
  return words;
}

__device__ inline void store_words(void *destination, ulong index, words_t words) {
  load_t *to = (load_t *)destination + index * (VECTOR_BYTES / sizeof(load_t));
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / sizeof(load_t); ++i) STORE_WORDS(to + i, words.load[i]);
}

__device__ inline words_t no_words(void) {
  words_t words;
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / sizeof(word_t); ++i) words.word[i] = 0;
  return words;
}

__device__ inline words_t xor_words(words_t a, words_t b) {
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / sizeof(word_t); ++i) a.word[i] ^= b.word[i];
  return a;
}

__device__ inline uint xor_of_words(words_t words) {
  uint mixed = 0;
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / sizeof(word_t); ++i) mixed ^= words.word[i];
  return mixed;
}

// Reads one value of memory that no kernel of the launch writes.
#define LOAD_AS(type, pointer) __ldg((const type *)(pointer))
// end differs
