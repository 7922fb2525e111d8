// A work-group's partial results become one, four at a time: half the barriers of a binary tree (yan2011: future work).
// Where the group is no power of four, two are left for the last step.

__device__ inline partial_t tree(partial_t mine, partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  scratch[local_id] = mine;
  __syncthreads();
  uint left = GROUP_SIZE;
  for (; left >= 4; left /= 4) {
    const uint reach = left / 4;
    if (local_id < reach) {
      mine = combined(mine, scratch[local_id + reach]);
      mine = combined(mine, scratch[local_id + 2 * reach]);
      mine = combined(mine, scratch[local_id + 3 * reach]);
      scratch[local_id] = mine;
    }
    __syncthreads();
  }
  if (left == 2 && local_id == 0) mine = combined(mine, scratch[1]);
#endif
  return mine;
}
