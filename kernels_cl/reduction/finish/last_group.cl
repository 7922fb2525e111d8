// Each group leaves its partial result and takes a ticket; the group with the last one merges all partial results, in a
// fixed order, and resets the tickets: one launch, and the same answer each time (pcl: an atomic counter).

#define FINISH_PARAMETERS , __global uint *tickets, __global partial_t *answer
#define FINISH_ARGUMENTS , tickets, answer

// differs: OpenCL C 1.2 orders no groups of one launch: NVIDIA's compiler takes PTX, and on processors atomics order.
#ifdef __NV_CL_C_VERSION
#define ORDER_GROUPS() asm volatile("fence.acq_rel.gpu;" ::: "memory")
#else
#define ORDER_GROUPS() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#define TAKE_TICKET(tickets) atomic_inc(tickets)
#define SYNCHRONIZE() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
// end differs

inline void finish(__global partial_t *partials, partial_t mine, __local partial_t *scratch,
                   uint local_id FINISH_PARAMETERS) {
  bool is_last = false;
  if (local_id == 0) {
    partials[get_group_id(0)] = mine;
    ORDER_GROUPS();
    is_last = TAKE_TICKET(tickets) == get_num_groups(0) - 1;
    if (is_last) ORDER_GROUPS();
  }
#if GROUP_SIZE > 1
  // The first work-item tells the others through local memory, once nobody reads the tree's result there any more.
  __local uchar *told = (__local uchar *)scratch;
  SYNCHRONIZE();
  if (local_id == 0) *told = is_last;
  SYNCHRONIZE();
  is_last = *told;
  SYNCHRONIZE();
#endif
  if (!is_last) return;
  mine = none();
  for (uint i = local_id; i < get_num_groups(0); i += GROUP_SIZE) mine = combined(mine, partials[i]);
  mine = tree(mine, scratch, local_id);
  if (local_id == 0) {
    *answer = mine;
    *tickets = 0;
  }
}
