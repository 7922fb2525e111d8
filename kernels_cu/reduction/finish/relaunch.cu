// Further launches of this kernel combine the groups' partial results on the device until one is left. It follows the
// file finish/host, which stores them.

extern "C" __global__ __launch_bounds__(GROUP_SIZE)
void merge(const partial_t *partials, const uint count, partial_t *merged) {
  __shared__ partial_t of_group[SCRATCH_PARTIALS];
  partial_t *const scratch = OPAQUE_SHARED(partial_t, of_group);
  const uint local_id = threadIdx.x;
  partial_t mine = identity();
  for (uint i = blockIdx.x * GROUP_SIZE + local_id; i < count; i += gridDim.x * GROUP_SIZE) {
    mine = combine(mine, partials[i]);
  }
  combine_groups(merged, reduce_group(mine, scratch, local_id), scratch, local_id FINISH_ARGUMENTS);
}
