// Each group stores its partial result and takes a ticket; the group that takes the last one combines all partial
// results in a fixed order: one launch, and the same answer each time (pcl: an atomic counter).

#define FINISH_PARAMETERS , uint *tickets, partial_t *answer
#define FINISH_ARGUMENTS , tickets, answer, &group_is_last
// Here the first work-item tells the others of its group whether theirs is the last.
#define FINISH_LOCALS __shared__ uint group_is_last;

// differs: in OpenCL C a barrier orders one kind of memory or both.
#define SYNCHRONIZE() __syncthreads()
// end differs

// How many partial results a work-item of the last group reads before it combines the first of them.
#define READ_AT_ONCE 4

__device__ inline void combine_groups(partial_t *partials, partial_t mine, partial_t *scratch,
                                      uint local_id FINISH_PARAMETERS, uint *group_is_last) {
  uint is_last = 0;
  const uint num_groups = gridDim.x;
  if (local_id == 0) {
    partials[blockIdx.x] = mine;
    is_last = takes_last_ticket(tickets, num_groups);
  }
#if GROUP_SIZE > 1
  if (local_id == 0) *group_is_last = is_last;
  SYNCHRONIZE();
  is_last = *group_is_last;
#endif
  if (!is_last) return;
  mine = identity();
  // The loop rarely runs more than once, so it is not unrolled.
#pragma unroll 1
  for (uint first = local_id; first < num_groups; first += READ_AT_ONCE * GROUP_SIZE) {
    partial_t read[READ_AT_ONCE];
#pragma unroll
    for (uint k = 0; k < READ_AT_ONCE; ++k) {
      const uint at = first + k * GROUP_SIZE;
      read[k] = at < num_groups ? partials[at] : identity();
    }
#pragma unroll
    for (uint k = 0; k < READ_AT_ONCE; ++k) mine = combine(mine, read[k]);
  }
  mine = reduce_group(mine, scratch, local_id);
  if (local_id == 0) *answer = mine;
}
