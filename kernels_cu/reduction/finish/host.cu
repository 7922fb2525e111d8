// Each group stores its partial result; the host or another launch combines them.

#define FINISH_PARAMETERS
#define FINISH_ARGUMENTS
#define FINISH_LOCALS

__device__ inline void combine_groups(partial_t *partials, partial_t mine, partial_t *scratch,
                                      uint local_id FINISH_PARAMETERS) {
  if (local_id == 0) partials[blockIdx.x] = mine;
}
