// The sum of a batch in each component, in the narrowest type that holds it, then the sum of all batches.

#if ELEMENT_BITS == 8 && !TERM_GROWS
#define BATCH_TOTAL short
#elif ELEMENT_BITS == 8 || (ELEMENT_BITS == 16 && !TERM_GROWS)
#define BATCH_TOTAL int
#else
#define BATCH_TOTAL TOTAL
#endif
#if LOADS_IN_FLIGHT > 128
#error "LOADS_IN_FLIGHT is over 128: a batch of bytes overflows 16 bits"
#endif

// differs: x86's processors add neighbours, eight bytes or two integers of 16 bits, by one instruction.
#if TERM_IS_PLAIN && ELEMENT_BITS * VECTOR_WIDTH == 512 && ELEMENT_BITS <= 16 && !IS_PORTABLE && defined(__AVX2__)
#define ADDS_NEIGHBOURS 1
// They add unsigned bytes, and signed integers of 16 bits. With its highest bit changed an element is so much more.
#if ELEMENT_BITS == 8
#define EXCESS ((ELEMENT)-1 < 0 ? 128 : 0)
typedef ulong8 neighbours_t;

inline neighbours_t add_neighbours(char64 bytes) {
  const char64 none = 0;
#ifdef __AVX512BW__
  return __builtin_astype(__builtin_ia32_psadbw512(bytes, none), ulong8);
#else
  return (ulong8)(__builtin_astype(__builtin_ia32_psadbw256(bytes.lo, none.lo), ulong4),
                  __builtin_astype(__builtin_ia32_psadbw256(bytes.hi, none.hi), ulong4));
#endif
}

inline long8 as_lanes(neighbours_t sums) {
  return as_long8(sums);
}
#else
#define EXCESS ((ELEMENT)-1 < 0 ? 0 : -32768)
typedef int16 neighbours_t;

inline neighbours_t add_neighbours(short32 shorts) {
  const short32 ones = 1;
#ifdef __AVX512BW__
  return __builtin_astype(__builtin_ia32_pmaddwd512(shorts, ones), int16);
#else
  return (int16)(__builtin_astype(__builtin_ia32_pmaddwd256(shorts.lo, ones.lo), int8),
                 __builtin_astype(__builtin_ia32_pmaddwd256(shorts.hi, ones.hi), int8));
#endif
}

inline long8 as_lanes(neighbours_t sums) {
  return __builtin_convertvector(sums.lo + sums.hi, long8);
}
#endif

inline void add_batch(accumulator_t *accumulator, const LOADED *batch) {
  neighbours_t sums = 0;
#pragma unroll
  for (int k = 0; k < LOADS_IN_FLIGHT; ++k) {
    sums += add_neighbours(REINTERPRET(AS_WIDE, batch[k]) ^ SPLAT(AS_WIDE, EXCESS));
  }
  const long8 lanes = as_lanes(sums) - LOADS_IN_FLIGHT * (VECTOR_WIDTH / 8) * EXCESS;
  *(JOIN(TOTAL, 8) *)&accumulator->total += __builtin_convertvector(lanes, JOIN(TOTAL, 8));
}
#else
#define ADDS_NEIGHBOURS 0
#endif
// end differs

inline void accumulate_batch(accumulator_t *accumulator, const LOADED *batch, UNRESTRICTED_SOURCE source, ulong index,
                             ulong step) {
#if ADDS_NEIGHBOURS
  add_batch(accumulator, batch);
#else
  VECTOR_OF(BATCH_TOTAL) total;
  EACH_COMPONENT COMPONENT(total) = TERM(CONVERT(BATCH_TOTAL, COMPONENT(batch[0])));
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k)
    EACH_COMPONENT COMPONENT(total) += TERM(CONVERT(BATCH_TOTAL, COMPONENT(batch[k])));
  ADD_WIDENED(TOTAL, accumulator->total, total);
#endif
}
