// What an instruction of NVIDIA's GPUs, redux.sync, makes of the 32-bit words of a wave, and what is made of that for
// wider types and for floats. Those named in `mask` take part, and each of them gets the answer.

#define REDUX(name, operation)                                                     \
  __device__ inline uint name(uint word, uint mask) {                                         \
    asm volatile("redux.sync." operation " %0, %0, %1;" : "+r"(word) : "r"(mask)); \
    return word;                                                                   \
  }
REDUX(wave_added_word, "add.u32")
REDUX(wave_least_uint, "min.u32")
REDUX(wave_least_int, "min.s32")
REDUX(wave_greatest_uint, "max.u32")
REDUX(wave_greatest_int, "max.s32")

// The sum, modulo 2^64, of 27, of 27 and of the highest 10 bits: 32 of each add up to no more than 32 bits.
__device__ inline ulong wave_added(ulong total, uint mask) {
  const uint low = wave_added_word(total & 0x7ffffff, mask);
  const uint middle = wave_added_word((total >> 27) & 0x7ffffff, mask);
  const uint high = wave_added_word(total >> 54, mask);
  return ((ulong)high << 54) + ((ulong)middle << 27) + low;
}

// The high words decide; among those who have the best of them, the low ones.
#define WIDE(name, high_word, low_word, others)                             \
  __device__ inline ulong name(ulong value, uint mask) {                               \
    const uint own = value >> 32;                                           \
    const uint high = high_word(own, mask);                                 \
    const uint low = low_word(own == high ? (uint)value : (others), mask);  \
    return (ulong)high << 32 | low;                                         \
  }
WIDE(wave_least_ulong, wave_least_uint, wave_least_uint, 0xffffffffu)
WIDE(wave_least_long, wave_least_int, wave_least_uint, 0xffffffffu)
WIDE(wave_greatest_ulong, wave_greatest_uint, wave_greatest_uint, 0u)
WIDE(wave_greatest_long, wave_greatest_int, wave_greatest_uint, 0u)

// Integers compare as the floats whose bits they are, once the lower bits of negative ones are inverted. For a NaN
// stands an integer, `nan`, beyond those of all numbers.
#define REAL(name, type, bits_t, sign, wave, nan)           \
  __device__ inline type name(type value, uint mask) {                 \
    union {                                                 \
      type value;                                           \
      bits_t bits;                                          \
    } same;                                                 \
    const bits_t lower = ~((bits_t)1 << sign);              \
    same.value = value;                                     \
    bits_t key = same.bits ^ ((same.bits >> sign) & lower); \
    if (value != value) key = (nan);                        \
    key = wave(key, mask);                                  \
    same.bits = key ^ ((key >> sign) & lower);              \
    return same.value;                                      \
  }
REAL(wave_least_float, float, int, 31, wave_least_int, ~lower)
REAL(wave_greatest_float, float, int, 31, wave_greatest_int, lower)
REAL(wave_least_double, double, long, 63, wave_least_long, ~lower)
REAL(wave_greatest_double, double, long, 63, wave_greatest_long, lower)
