// The smallest and the largest element of a batch at each place of a vector, then of all.

__device__ inline void fold_batch(lanes_t *lanes, const LOADED *batch, UNRESTRICTED_SOURCE source, ulong index,
                              ulong step) {
  LOADED lowest, highest;
  extremes_of(batch, &lowest, &highest);
  EACH_LANE LANE(lanes->lowest) = LESSER(LANE(lowest), LANE(lanes->lowest));
  EACH_LANE LANE(lanes->highest) = GREATER(LANE(highest), LANE(lanes->highest));
}
