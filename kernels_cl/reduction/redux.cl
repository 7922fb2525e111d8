// Functions over a sub-group made of NVIDIA's instruction redux.sync, which combines 32-bit words, and the same for
// wider types and floats. The lanes in `mask` take part, and each gets the result.

#define REDUX(name, operation)                                                     \
  inline uint name(uint word, uint mask) {                                         \
    asm volatile("redux.sync." operation " %0, %0, %1;" : "+r"(word) : "r"(mask)); \
    return word;                                                                   \
  }
REDUX(sub_group_added_word, "add.u32")
REDUX(sub_group_least_uint, "min.u32")
REDUX(sub_group_least_int, "min.s32")
REDUX(sub_group_greatest_uint, "max.u32")
REDUX(sub_group_greatest_int, "max.s32")

// The sum modulo 2^64, of three parts: the lowest 27 bits, the next 27 and the highest 10; the sum of 32 of each fits
// 32 bits.
inline ulong sub_group_added(ulong total, uint mask) {
  const uint low = sub_group_added_word(total & 0x7ffffff, mask);
  const uint middle = sub_group_added_word((total >> 27) & 0x7ffffff, mask);
  const uint high = sub_group_added_word(total >> 54, mask);
  return ((ulong)high << 54) + ((ulong)middle << 27) + low;
}

// The extreme of the high words, then the extreme of the low words among the lanes that have it.
#define WIDE(name, high_word, low_word, others)                            \
  inline ulong name(ulong value, uint mask) {                              \
    const uint own = value >> 32;                                          \
    const uint high = high_word(own, mask);                                \
    const uint low = low_word(own == high ? (uint)value : (others), mask); \
    return (ulong)high << 32 | low;                                        \
  }
WIDE(sub_group_least_ulong, sub_group_least_uint, sub_group_least_uint, 0xffffffffu)
WIDE(sub_group_least_long, sub_group_least_int, sub_group_least_uint, 0xffffffffu)
WIDE(sub_group_greatest_ulong, sub_group_greatest_uint, sub_group_greatest_uint, 0u)
WIDE(sub_group_greatest_long, sub_group_greatest_int, sub_group_greatest_uint, 0u)

// Floats compare as the integers of their bits, once the lower bits of negative ones are inverted. NaN is replaced by
// an integer, `nan`, beyond all numbers.
#define REAL(name, type, bits_t, sign, across_sub_group, nan) \
  inline type name(type value, uint mask) {                   \
    union {                                                   \
      type value;                                             \
      bits_t bits;                                            \
    } same;                                                   \
    const bits_t lower = ~((bits_t)1 << sign);                \
    same.value = value;                                       \
    bits_t key = same.bits ^ ((same.bits >> sign) & lower);   \
    if (value != value) key = (nan);                          \
    key = across_sub_group(key, mask);                        \
    same.bits = key ^ ((key >> sign) & lower);                \
    return same.value;                                        \
  }
REAL(sub_group_least_float, float, int, 31, sub_group_least_int, ~lower)
REAL(sub_group_greatest_float, float, int, 31, sub_group_greatest_int, lower)
REAL(sub_group_least_double, double, long, 63, sub_group_least_long, ~lower)
REAL(sub_group_greatest_double, double, long, 63, sub_group_greatest_long, lower)
