// The largest element of a batch at each place of a vector, then of all.

__device__ inline void fold_batch(lanes_t *lanes, const LOADED *batch, UNRESTRICTED_SOURCE source, ulong index,
                              ulong step) {
  LOADED highest = batch[0];
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) {
    EACH_LANE LANE(highest) = GREATER_NUMBER(LANE(batch[k]), LANE(highest));
  }
  *lanes = folded(*lanes, with_nan(highest, batch), 0);
}
