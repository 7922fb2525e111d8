// The smallest element of a batch in each component, then of all batches.

inline void accumulate_batch(accumulator_t *accumulator, const LOADED *batch, UNRESTRICTED_SOURCE source, ulong index,
                             ulong step) {
  LOADED lowest = batch[0];
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) {
    EACH_COMPONENT COMPONENT(lowest) = LESSER_NUMBER(COMPONENT(batch[k]), COMPONENT(lowest));
  }
  *accumulator = accumulate(*accumulator, with_nan(lowest, nan_in(batch)), 0);
}
