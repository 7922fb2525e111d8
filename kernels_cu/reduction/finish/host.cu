// Each group leaves its partial result, for the host or another launch to merge.

#define FINISH_PARAMETERS
#define FINISH_ARGUMENTS
#define FINISH_LOCALS

__device__ inline void finish(partial_t *partials, partial_t mine, partial_t *scratch,
                   uint local_id FINISH_PARAMETERS) {
  if (local_id == 0) partials[blockIdx.x] = mine;
}
