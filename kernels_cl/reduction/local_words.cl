// Words of local memory in which the work-items of a group combine values by atomics whose results are not needed. As
// all address one word, NVIDIA's assembler has an instruction combine those of a sub-group first, PTX's redux.sync.

// differs: the APIs have other names for atomics.
#define ADD_TO_WORD(word, value) atomic_add(word, value)
#define MIN_OF_WORD(word, value) atomic_min(word, value)
#define MAX_OF_WORD(word, value) atomic_max(word, value)
// end differs

// Values of 32 bits as unsigned integers of the same order: of floats the lower bits of negative ones are inverted.
inline uint OVERLOADED key_of(uint value) {
  return value;
}

inline uint OVERLOADED key_of(int value) {
  return (uint)value ^ 0x80000000u;
}

inline uint OVERLOADED key_of(float value) {
  const uint bits = FLOAT_BITS(value);
  return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

// The value of a key, of the type of `zero`.
inline uint OVERLOADED value_of(uint key, uint zero) {
  return key;
}

inline int OVERLOADED value_of(uint key, int zero) {
  return key ^ 0x80000000u;
}

inline float OVERLOADED value_of(uint key, float zero) {
  union {
    float value;
    uint bits;
  } same;
  same.bits = key ^ (key >> 31 ? 0x80000000u : 0xffffffffu);
  return same.value;
}

// NaN becomes the key beyond those of all numbers, which is a NaN, too.
#if ELEMENT_IS_FLOAT
#define KEY_OF(value, nan) ((value) != (value) ? (nan) : key_of(value))
#else
#define KEY_OF(value, nan) key_of(value)
#endif

#define LEAST_AT_FIRST 0xffffffffu
#define GREATEST_AT_FIRST 0u
#define LESSER_INTO(word, value) MIN_OF_WORD(word, KEY_OF(value, GREATEST_AT_FIRST))
#define GREATER_INTO(word, value) MAX_OF_WORD(word, KEY_OF(value, LEAST_AT_FIRST))

// A sum modulo 2^64 in three words: the lowest 22 bits, the next 22 and the highest 20. The sum of 1024 of each fits 32
// bits.
#define PART_BITS 22
#define PART_OF(total, place) ((uint)((total) >> PART_BITS * (place)) & ((1u << PART_BITS) - 1))
#if GROUP_SIZE > 1024
#error "the sums of a part of more work-items do not fit 32 bits"
#endif

inline void empty_sum(__local uint *words) {
  for (int i = 0; i < 3; ++i) words[i] = 0;
}

inline void add_into_words(__local uint *words, ulong total) {
#pragma unroll
  for (int i = 0; i < 3; ++i) ADD_TO_WORD(words + i, PART_OF(total, i));
}

inline ulong sum_of_words(const __local uint *words) {
  return ((ulong)words[2] << 2 * PART_BITS) + ((ulong)words[1] << PART_BITS) + words[0];
}
