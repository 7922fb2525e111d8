// The reduction: a work-item accumulates its part of the source, a group combines its work-items, then the groups are
// combined.

extern "C" __global__ __launch_bounds__(GROUP_SIZE)
void reduce(SOURCE source, const ulong length, partial_t *__restrict__ partials
            FINISH_PARAMETERS) {
  __shared__ partial_t of_group[SCRATCH_PARTIALS];
  partial_t *const scratch = OPAQUE_SHARED(partial_t, of_group);
  FINISH_LOCALS
  const uint local_id = threadIdx.x;
  const ulong vectors = length / VECTOR_WIDTH;
  const range_t range = vectors_of_item(vectors, local_id);
  accumulator_t accumulator = empty_accumulator();
  ulong i = range.first;
  for (; i + (LOADS_IN_FLIGHT - 1) * range.step < range.end; i += LOADS_IN_FLIGHT * range.step) {
    LOADED loaded[LOADS_IN_FLIGHT];
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = LOAD(source, i + k * range.step);
    LOADS_ISSUED_FENCE();
#if ACCUMULATES_BATCHES
    accumulate_batch(&accumulator, loaded, source, i, range.step);
#else
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) {
      accumulator = accumulate(accumulator, loaded[k], (i + k * range.step) * VECTOR_WIDTH);
    }
#endif
  }
  // The remaining vectors, fewer than LOADS_IN_FLIGHT: their loads are issued together, too.
  if (i < range.end) {
    LOADED loaded[LOADS_IN_FLIGHT];
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT - 1; ++k) {
      if (i + k * range.step < range.end) loaded[k] = LOAD(source, i + k * range.step);
    }
    LOADS_ISSUED_FENCE();
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT - 1; ++k) {
      if (i + k * range.step < range.end) {
        KEEP_BRANCH();
        accumulator = accumulate(accumulator, loaded[k], (i + k * range.step) * VECTOR_WIDTH);
      }
    }
  }

  partial_t mine = component_partial(accumulator, 0);
#pragma unroll
  for (int at = 1; at < COMPONENTS; ++at) mine = combine(mine, component_partial(accumulator, at));
  // The elements after the last whole vector, fewer than VECTOR_WIDTH, are distributed over the whole grid.
  const ulong global_id = (ulong)blockIdx.x * GROUP_SIZE + local_id;
  const ulong step = (ulong)gridDim.x * GROUP_SIZE;
  for (ulong rest = vectors * VECTOR_WIDTH + global_id; rest < length; rest += step) {
    mine = combine(mine, make_partial(load_element(source, rest), rest));
  }
  mine = reduce_group(mine, scratch, local_id);
#if FINDS_PLACES
  if (local_id == 0) mine = located(mine, source, length);
#endif
  combine_groups(partials, mine, scratch, local_id FINISH_ARGUMENTS);
}
