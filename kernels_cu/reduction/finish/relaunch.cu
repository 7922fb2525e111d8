// After each group has left its partial result, launches of this kernel merge them on the device until one is left.
// It follows the piece for the host, which leaves them.

extern "C" __global__ __launch_bounds__(GROUP_SIZE)
void merge(const partial_t *partials, const uint count, partial_t *merged) {
  __shared__ partial_t of_group[SCRATCH_PARTIALS];
  partial_t *const scratch = HELD(partial_t, of_group);
  const uint local_id = threadIdx.x;
  partial_t mine = none();
  for (uint i = blockIdx.x * GROUP_SIZE + local_id; i < count; i += gridDim.x * GROUP_SIZE) {
    mine = combined(mine, partials[i]);
  }
  finish(merged, tree(mine, scratch, local_id), scratch, local_id FINISH_ARGUMENTS);
}
