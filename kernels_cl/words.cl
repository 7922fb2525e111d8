// Loads and stores of VECTOR_BYTES raw bytes, by the widest instructions there are: 16 bytes each, with the hint to the
// caches that cache_hint defines.

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

#if HAS_PTX && VECTOR_BYTES >= 8
// In PTX, because NVIDIA's compiler splits the load or store of a vector whose bytes are used next into pieces of four
// bytes.
#if VECTOR_BYTES == 8
typedef uint2 move_t;

inline move_t load_move(__global const move_t *from) {
  move_t moved;
  asm(LOAD_PTX ".v2.u32 {%0, %1}, [%2]" LOAD_POLICY(3) ";"
      : "=r"(moved.x), "=r"(moved.y)
      : "l"(from) LOAD_POLICY_INPUT);
  return moved;
}

inline void store_move(__global move_t *to, move_t moved) {
  asm volatile(STORE_PTX ".v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(moved.x), "r"(moved.y) : "memory");
}
#else
typedef uint4 move_t;

inline move_t load_move(__global const move_t *from) {
  move_t moved;
  asm(LOAD_PTX ".v4.u32 {%0, %1, %2, %3}, [%4]" LOAD_POLICY(5) ";"
      : "=r"(moved.x), "=r"(moved.y), "=r"(moved.z), "=r"(moved.w)
      : "l"(from) LOAD_POLICY_INPUT);
  return moved;
}

inline void store_move(__global move_t *to, move_t moved) {
  asm volatile(STORE_PTX ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(moved.x), "r"(moved.y), "r"(moved.z),
               "r"(moved.w)
               : "memory");
}
#endif

#define MOVES ((int)(sizeof(words_t) / sizeof(move_t)))
typedef union {
  words_t words;
  move_t moves[sizeof(words_t) / sizeof(move_t)];
} moved_t;

inline words_t load_words(__global const void *source, ulong index) {
  __global const move_t *from = (__global const move_t *)source + index * MOVES;
  moved_t moved;
#pragma unroll
  for (int i = 0; i < MOVES; ++i) moved.moves[i] = load_move(from + i);
  return moved.words;
}

inline void store_words(__global void *destination, ulong index, words_t words) {
  __global move_t *to = (__global move_t *)destination + index * MOVES;
  moved_t moved;
  moved.words = words;
#pragma unroll
  for (int i = 0; i < MOVES; ++i) store_move(to + i, moved.moves[i]);
}
#else
inline words_t load_words(__global const void *source, ulong index) {
  return LOAD_WORDS((__global const words_t *)source + index);
}

inline void store_words(__global void *destination, ulong index, words_t words) {
  STORE_WORDS((__global words_t *)destination + index, words);
}
#endif

inline words_t no_words(void) {
  return (words_t)(0);
}

inline words_t xor_words(words_t a, words_t b) {
  return a ^ b;
}

inline uint xor_of_words(words_t words) {
#if VECTOR_BYTES < 4
  return words;
#else
  uint mixed = 0;
  for (int i = 0; i < VECTOR_BYTES / 4; ++i) mixed ^= ((const uint *)&words)[i];
  return mixed;
#endif
}

// Reads one value of memory that no kernel of the launch writes.
#define LOAD_AS(type, pointer) (*(__global const type *)(pointer))
// end differs
