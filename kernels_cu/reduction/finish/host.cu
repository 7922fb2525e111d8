// Each group leaves its partial result; the host merges them.

__device__ inline void finish(partial_t *partials, partial_t mine, uint local_id) {
  if (local_id == 0) partials[blockIdx.x] = mine;
}
