// Each group leaves its partial result and takes a ticket; the group with the last one merges all partial results, in a
// fixed order, and resets the tickets: one launch, and the same answer each time (pcl: an atomic counter).

#define FINISH_PARAMETERS , uint *tickets, partial_t *answer
#define FINISH_ARGUMENTS , tickets, answer

// differs: OpenCL C 1.2 orders no groups of one launch: NVIDIA's compiler takes PTX, and on processors atomics order.
// __threadfence() is sequentially consistent, which costs microseconds; releasing and acquiring is enough.
#define ORDER_GROUPS() asm volatile("fence.acq_rel.gpu;" ::: "memory")
#define TAKE_TICKET(tickets) atomicAdd(tickets, 1)
#define SYNCHRONIZE() __syncthreads()
// end differs

__device__ inline void finish(partial_t *partials, partial_t mine, partial_t *scratch,
                   uint local_id FINISH_PARAMETERS) {
  bool is_last = false;
  if (local_id == 0) {
    partials[blockIdx.x] = mine;
    ORDER_GROUPS();
    is_last = TAKE_TICKET(tickets) == gridDim.x - 1;
    if (is_last) ORDER_GROUPS();
  }
#if GROUP_SIZE > 1
  // The first work-item tells the others through local memory, once nobody reads the tree's result there any more.
  uchar *told = (uchar *)scratch;
  SYNCHRONIZE();
  if (local_id == 0) *told = is_last;
  SYNCHRONIZE();
  is_last = *told;
  SYNCHRONIZE();
#endif
  if (!is_last) return;
  mine = none();
  for (uint i = local_id; i < gridDim.x; i += GROUP_SIZE) mine = combined(mine, partials[i]);
  mine = tree(mine, scratch, local_id);
  if (local_id == 0) {
    *answer = mine;
    *tickets = 0;
  }
}
