// How many elements of a batch are not zero in each component, counted in integers as wide as the elements, then how
// many of all batches.

#if LOADS_IN_FLIGHT > 127
#error "LOADS_IN_FLIGHT is over 127: the count of a batch of bytes overflows 8 bits"
#endif

inline void accumulate_batch(accumulator_t *accumulator, const LOADED *batch, UNRESTRICTED_SOURCE source, ulong index,
                             ulong step) {
  VECTOR_OF(AS_WIDE) count;
  EACH_COMPONENT COMPONENT(count) = ONES(AS_WIDE, COMPONENT(batch[0]) != SPLAT(ELEMENT, 0));
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) {
    EACH_COMPONENT COMPONENT(count) += ONES(AS_WIDE, COMPONENT(batch[k]) != SPLAT(ELEMENT, 0));
  }
  ADD_WIDENED(uint, accumulator->count, count);
}
