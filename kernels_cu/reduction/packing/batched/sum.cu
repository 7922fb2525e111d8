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
#define ADDS_NEIGHBOURS 0
// end differs

__device__ inline void accumulate_batch(accumulator_t *accumulator, const LOADED *batch, UNRESTRICTED_SOURCE source,
                                        ulong index, ulong step) {
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
