// Reduces a work-group: the lower half keeps its values in registers and only the upper half writes them to local
// memory, half the traffic of storing all (yan2011: half store). Each step uses its own part of local memory, so that
// one barrier a step is enough.

inline partial_t reduce_group(partial_t mine, __local partial_t *scratch, uint local_id) {
  for (uint reach = GROUP_SIZE / 2; reach > 0; reach /= 2) {
    if (local_id >= reach && local_id < 2 * reach) scratch[local_id] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id < reach) mine = combine(mine, scratch[local_id + reach]);
  }
  return mine;
}
