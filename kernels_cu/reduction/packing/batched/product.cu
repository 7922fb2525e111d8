// The product of a batch in each component: no type narrower than the total's holds it.

__device__ inline void accumulate_batch(accumulator_t *accumulator, const LOADED *batch, UNRESTRICTED_SOURCE source,
                                        ulong index, ulong step) {
#pragma unroll
  for (int k = 0; k < LOADS_IN_FLIGHT; ++k)
    *accumulator = accumulate(*accumulator, batch[k], index);
}
