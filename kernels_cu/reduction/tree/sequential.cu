// Reduces a work-group: the active work-items are contiguous, so that sub-groups do not diverge and neighbours read
// neighbouring words (pcl: Divergence-Free; yan2011: contiguous).

__device__ inline partial_t reduce_group(partial_t mine, partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  scratch[local_id] = mine;
  __syncthreads();
  for (uint reach = GROUP_SIZE / 2; reach > 0; reach /= 2) {
    if (local_id < reach) scratch[local_id] = combine(scratch[local_id], scratch[local_id + reach]);
    __syncthreads();
  }
  mine = scratch[0];
#endif
  return mine;
}
