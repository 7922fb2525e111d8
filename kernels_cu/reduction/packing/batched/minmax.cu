// The smallest and the largest element of a batch in each component, then of all batches.

__device__ inline void accumulate_batch(accumulator_t *accumulator, const LOADED *batch, UNRESTRICTED_SOURCE source,
                                        ulong index, ulong step) {
  LOADED lowest, highest;
  extremes_of(batch, &lowest, &highest);
  const VECTOR_OF(AS_WIDE) is_nan = nan_in(batch);
  lowest = with_nan(lowest, is_nan);
  highest = with_nan(highest, is_nan);
  EACH_COMPONENT COMPONENT(accumulator->lowest) = LESSER(COMPONENT(lowest), COMPONENT(accumulator->lowest));
  EACH_COMPONENT COMPONENT(accumulator->highest) = GREATER(COMPONENT(highest), COMPONENT(accumulator->highest));
}
