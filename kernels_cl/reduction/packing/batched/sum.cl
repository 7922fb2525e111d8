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
// They add what unsigned bytes differ from others by, and signed integers of 16 bits times others. With its highest bit
// changed an element is EXCESS more.
#if ELEMENT_BITS == 8
#define EXCESS ((ELEMENT)-1 < 0 ? 128 : 0)
#define OTHER 0
#define NEIGHBOURS(bits) JOIN(__builtin_ia32_psadbw, bits)
#define AS_LANES(sums) as_long8(sums)
typedef ulong8 neighbours_t;
typedef ulong4 half_neighbours_t;
#else
#define EXCESS ((ELEMENT)-1 < 0 ? 0 : -32768)
#define OTHER 1
#define NEIGHBOURS(bits) JOIN(__builtin_ia32_pmaddwd, bits)
#define AS_LANES(sums) __builtin_convertvector((sums).lo + (sums).hi, long8)
typedef int16 neighbours_t;
typedef int8 half_neighbours_t;
#endif

inline neighbours_t add_neighbours(VECTOR_OF(AS_WIDE) elements) {
  const VECTOR_OF(AS_WIDE) others = SPLAT(AS_WIDE, OTHER);
#ifdef __AVX512BW__
  return __builtin_astype(NEIGHBOURS(512)(elements, others), neighbours_t);
#else
  return (neighbours_t)(__builtin_astype(NEIGHBOURS(256)(elements.lo, others.lo), half_neighbours_t),
                        __builtin_astype(NEIGHBOURS(256)(elements.hi, others.hi), half_neighbours_t));
#endif
}

inline void add_batch(accumulator_t *accumulator, const LOADED *batch) {
  neighbours_t sums = 0;
#pragma unroll
  for (int k = 0; k < LOADS_IN_FLIGHT; ++k) {
    sums += add_neighbours(REINTERPRET(AS_WIDE, batch[k]) ^ SPLAT(AS_WIDE, EXCESS));
  }
  const long8 lanes = AS_LANES(sums) - LOADS_IN_FLIGHT * (VECTOR_WIDTH / 8) * EXCESS;
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
