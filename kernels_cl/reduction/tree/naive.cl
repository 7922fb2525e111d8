// Reduces a work-group in interleaved pairs: every second work-item idles in the first step, three of four in the next,
// in every sub-group, and the strides cause bank conflicts in local memory (pcl: Naive).

inline partial_t reduce_group(partial_t mine, __local partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  scratch[local_id] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = 1; reach < GROUP_SIZE; reach *= 2) {
    if (local_id % (2 * reach) == 0) scratch[local_id] = combine(scratch[local_id], scratch[local_id + reach]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  mine = scratch[0];
#endif
  return mine;
}
