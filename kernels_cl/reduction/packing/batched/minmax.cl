// The smallest and the largest element of a batch at each place of a vector, then of all.

inline void fold_batch(lanes_t *lanes, const LOADED *batch, UNRESTRICTED_SOURCE source, ulong index, ulong step) {
  LOADED lowest = batch[0], highest = batch[0];
#pragma unroll
  for (int k = 1; k < LOADS_IN_FLIGHT; ++k) {
    EACH_LANE LANE(lowest) = LESSER_NUMBER(LANE(batch[k]), LANE(lowest));
    EACH_LANE LANE(highest) = GREATER_NUMBER(LANE(batch[k]), LANE(highest));
  }
  lowest = with_nan(lowest, batch);
  highest = with_nan(highest, batch);
  EACH_LANE LANE(lanes->lowest) = LESSER(LANE(lowest), LANE(lanes->lowest));
  EACH_LANE LANE(lanes->highest) = GREATER(LANE(highest), LANE(lanes->highest));
}
