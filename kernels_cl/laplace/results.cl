// Sums as results of the image's type, saturated where they exceed it.

// NVIDIA's GPUs have an instruction that saturates two results and packs them beside two others. A portable kernel
// packs where it unpacks.
#define PACKS (SATURATES && VECTOR_BYTES >= 4 && (COMPUTE_CAPABILITY >= 72 || (IS_PORTABLE && UNPACKS)))

typedef union {
  words_t words;
  VECTOR_OF(STORED) vector;
#if PACKS || KEEPS_WORDS
  uint packed[VECTOR_BYTES / 4];
#endif
} results_t;

#if SATURATES
#define SATURATED(value) max(min(value, SPLAT(VALUE, HIGHEST)), SPLAT(VALUE, LOWEST))
#else
#define SATURATED(value) (value)
#endif

// differs: portable OpenCL C packs into words: NVIDIA's compiler would split the store of a vector of narrow elements.
#if PACKS && IS_PORTABLE
#define PAIR(lower, upper) as_uint((ushort2)((ushort)(lower), (ushort)(upper)))
inline results_t results_of(VECTOR_OF(VALUE) sums) {
  values_t values;
  values.vector = SATURATED(sums);
  results_t results;
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / 4; ++i) {
#if HIGHEST == 255
    const uint even = PAIR(values.at[4 * i], values.at[4 * i + 2]);
    const uint odd = PAIR(values.at[4 * i + 1], values.at[4 * i + 3]);
    results.packed[i] = even | odd << 8;
#else
    results.packed[i] = ((uint)values.at[2 * i] & 0xffff) | (uint)values.at[2 * i + 1] << 16;
#endif
  }
  return results;
}
#else
// end differs
inline results_t results_of(VECTOR_OF(VALUE) sums) {
  results_t results;
#if PACKS
  values_t values;
  values.vector = sums;
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / 4; ++i) {
    uint word;
#if HIGHEST == 255
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(word) : "r"(values.at[4 * i + 3]), "r"(values.at[4 * i + 2]));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %0;" : "+r"(word) : "r"(values.at[4 * i + 1]), "r"(values.at[4 * i]));
#elif HIGHEST == 65535
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(word) : "r"(values.at[2 * i + 1]), "r"(values.at[2 * i]));
#elif HIGHEST == 32767
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(word) : "r"(values.at[2 * i + 1]), "r"(values.at[2 * i]));
#else
#error "results of this type cannot be packed"
#endif
    results.packed[i] = word;
  }
#else
  EACH_COMPONENT COMPONENT(results.vector) = CONVERT(STORED, SATURATED(COMPONENT(sums)));
#endif
  return results;
}
// differs: as above.
#endif
// end differs
