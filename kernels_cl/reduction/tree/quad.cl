// Reduces a work-group four partial results at a time: half the barriers of a binary tree (yan2011: future work). Where
// the group's size is no power of four, the last step combines two.

inline partial_t reduce_group(partial_t mine, __local partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  scratch[local_id] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint left = GROUP_SIZE;
  for (; left >= 4; left /= 4) {
    const uint reach = left / 4;
    if (local_id < reach) {
      mine = combine(mine, scratch[local_id + reach]);
      mine = combine(mine, scratch[local_id + 2 * reach]);
      mine = combine(mine, scratch[local_id + 3 * reach]);
      scratch[local_id] = mine;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (left == 2 && local_id == 0) mine = combine(mine, scratch[1]);
#endif
  return mine;
}
