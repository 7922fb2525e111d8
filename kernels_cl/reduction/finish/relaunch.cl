// Further launches of this kernel combine the groups' partial results on the device until one is left. It follows the
// file finish/host, which stores them.

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void merge(__global const partial_t *partials, const uint count, __global partial_t *merged) {
  __local partial_t of_group[SCRATCH_PARTIALS];
  __local partial_t *const scratch = OPAQUE_SHARED(partial_t, of_group);
  const uint local_id = get_local_id(0);
  partial_t mine = identity();
  for (uint i = get_group_id(0) * GROUP_SIZE + local_id; i < count; i += get_num_groups(0) * GROUP_SIZE) {
    mine = combine(mine, partials[i]);
  }
  combine_groups(merged, reduce_group(mine, scratch, local_id), scratch, local_id FINISH_ARGUMENTS);
}
