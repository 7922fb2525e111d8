// How many elements of a batch are not zero at each place of a vector, in integers as wide as the elements, then how
// many of all.

#if LOADS_IN_FLIGHT > 127
#error "LOADS_IN_FLIGHT is over 127: the count of a batch of bytes overflows 8 bits"
#endif

inline void fold_batch(lanes_t *lanes, const LOADED *batch, UNRESTRICTED_SOURCE source, ulong index, ulong step) {
  VECTOR_OF(AS_WIDE) count;
  EACH_LANE LANE(count) = ONES(AS_WIDE, LANE(batch[0]) != SPLAT(ELEMENT, 0));
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) {
    EACH_LANE LANE(count) += ONES(AS_WIDE, LANE(batch[k]) != SPLAT(ELEMENT, 0));
  }
  ADD_WIDENED(uint, lanes->count, count);
}
