// Combines a value of each lane of a sub-group by NVIDIA's instruction redux.sync, which takes 32-bit integers, and in
// the same way wider types and floats. The lanes in `mask` take part, and each gets the result.

// differs: CUDA C++ has functions for it, and takes PTX as OpenCL C does on NVIDIA.
#define REDUX(name, type, operation)                                               \
  inline type OVERLOADED name(type word, uint mask) {                              \
    asm volatile("redux.sync." operation " %0, %0, %1;" : "+r"(word) : "r"(mask)); \
    return word;                                                                   \
  }
REDUX(redux_add, uint, "add.u32")
REDUX(redux_min, uint, "min.u32")
REDUX(redux_min, int, "min.s32")
REDUX(redux_max, uint, "max.u32")
REDUX(redux_max, int, "max.s32")
// end differs

// The sum modulo 2^64, of three parts: the lowest 27 bits, the next 27 and the highest 10; the sum of 32 of each fits
// 32 bits.
inline ulong OVERLOADED redux_add(ulong total, uint mask) {
  const uint low = redux_add((uint)total & 0x7ffffff, mask);
  const uint middle = redux_add((uint)(total >> 27) & 0x7ffffff, mask);
  const uint high = redux_add((uint)(total >> 54), mask);
  return ((ulong)high << 54) + ((ulong)middle << 27) + low;
}

// The extreme of the high words, then the extreme of the low words among the lanes that have it.
#define WIDE(name, type, high_t, others)                              \
  inline type OVERLOADED name(type value, uint mask) {                \
    const high_t own = value >> 32;                                   \
    const high_t high = name(own, mask);                              \
    const uint low = name(own == high ? (uint)value : (others), mask); \
    return (ulong)high << 32 | low;                                   \
  }
WIDE(redux_min, ulong, uint, 0xffffffffu)
WIDE(redux_min, long, int, 0xffffffffu)
WIDE(redux_max, ulong, uint, 0u)
WIDE(redux_max, long, int, 0u)

// Floats compare as the integers of their bits, once the lower bits of negative ones are inverted. NaN is replaced by
// an integer, `nan`, beyond all numbers.
#define REAL(name, type, bits_t, sign, nan)                 \
  inline type OVERLOADED name(type value, uint mask) {      \
    union {                                                 \
      type value;                                           \
      bits_t bits;                                          \
    } same;                                                 \
    const bits_t lower = ~((bits_t)1 << sign);              \
    same.value = value;                                     \
    bits_t key = same.bits ^ ((same.bits >> sign) & lower); \
    if (value != value) key = (nan);                        \
    key = name(key, mask);                                  \
    same.bits = key ^ ((key >> sign) & lower);              \
    return same.value;                                      \
  }
REAL(redux_min, float, int, 31, ~lower)
REAL(redux_max, float, int, 31, lower)
REAL(redux_min, double, long, 63, ~lower)
REAL(redux_max, double, long, 63, lower)
