// Rows of bytes in pairs: a word of 32 bits holds two bytes, each in the lower half of 16 bits. Two words hold four
// elements of a row, one those of even and one those of odd places. What computes on pairs is the stencil's file.

#if !KEEPS_WORDS
#error "only words of bytes are taken apart into pairs"
#endif

// differs: OpenCL C computes on vectors as a whole, CUDA C++ component by component.
#if VECTOR_WIDTH == 4
typedef uint2 sums_t;
#elif VECTOR_WIDTH == 8
typedef uint4 sums_t;
#elif VECTOR_WIDTH == 16
typedef uint8 sums_t;
#elif VECTOR_WIDTH == 32
typedef uint16 sums_t;
#else
#error "VECTOR_WIDTH must be a power of two from 4 to 32"
#endif
#define EACH_SUM
// The upper half of one word and the lower one of another: NVIDIA's compiler makes more of shifts than one instruction.
// Each vector has a name, without which Oclgrind crashes.
inline uint halves_of(uint before, uint behind) {
  const ushort2 first = as_ushort2(before), second = as_ushort2(behind);
  const ushort2 halves = (ushort2)(first.y, second.x);
  return as_uint(halves);
}
// end differs

typedef union {
  sums_t vector;
  uint word[VECTOR_WIDTH / 2];
} operand_t;

typedef struct {
  operand_t left, own, right;
} operands_t;

// The bytes in even places of a word as a pair, or those in odd ones.
inline uint pair_of(uint word, int is_odd) {
#if HAS_PTX
  uint pair;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(pair) : "r"(word), "r"(is_odd ? 0x4341 : 0x4240));
  return pair;
#else
  return word >> 8 * is_odd & 0x00ff00ff;
#endif
}

// Of a row of pairs the two values that begin `shift` values behind pair i, at most two before or behind it.
inline uint shifted(const uint *pairs, int i, int shift) {
  if (shift % 2 == 0) return pairs[i + shift / 2];
  const uint before = pairs[shift < 0 ? i - 1 : i], behind = pairs[shift < 0 ? i : i + 1];
#if HAS_PTX
  uint pair;
  asm("prmt.b32 %0, %1, %2, 0x5432;" : "=r"(pair) : "r"(before), "r"(behind));
  return pair;
#else
  return halves_of(before, behind);
#endif
}

inline operands_t operands_of(window_t window) {
  uint pairs[2][OWN_WORDS + 2];
#pragma unroll
  for (int i = 0; i < OWN_WORDS + 2; ++i) {
    pairs[0][i] = pair_of(window.word[i], 0);
    pairs[1][i] = pair_of(window.word[i], 1);
  }
#if CHANNELS == 1
  // Of the words beside the own elements one byte each is used, the nearest, which takes fewer instructions alone.
  pairs[1][0] = window.word[0] >> 8;
  pairs[0][OWN_WORDS + 1] = window.word[OWN_WORDS + 1] & 0xff;
#endif
  operands_t operands;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
#pragma unroll
    for (int is_odd = 0; is_odd < 2; ++is_odd) {
      // Neighbours are CHANNELS elements away: where that is odd, among the pairs of the other places.
      const uint *others = pairs[(is_odd + CHANNELS) % 2];
      const int to_left = (CHANNELS + !is_odd) / 2, to_right = (CHANNELS + is_odd) / 2;
      operands.left.word[2 * i + is_odd] = shifted(others, i + 1, -to_left);
      operands.own.word[2 * i + is_odd] = pairs[is_odd][i + 1];
      operands.right.word[2 * i + is_odd] = shifted(others, i + 1, to_right);
    }
  }
  return operands;
}
