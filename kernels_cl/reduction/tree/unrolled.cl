// Reduces a work-group by steps that are all written out; the steps within one sub-group need no barrier (pcl:
// Completely-Unroll). SUB_GROUP_WIDTH is the device's; where it is not known, or is 1, every step has its barrier.

// differs: NVIDIA's OpenCL compiler takes PTX; elsewhere a sub-group runs in lockstep, and memory needs a fence.
#if HAS_PTX
#define SYNCHRONIZE_SUB_GROUP() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define SYNCHRONIZE_SUB_GROUP() mem_fence(CLK_LOCAL_MEM_FENCE)
#endif
// end differs

// The first REACH work-items write in a step and read in the next.
#define COMBINE_WITH(REACH) \
  if (local_id < REACH) scratch[local_id] = combine(scratch[local_id], scratch[local_id + REACH]);
#define STEP(REACH) \
  if (GROUP_SIZE > REACH && REACH > SUB_GROUP_WIDTH) { \
    COMBINE_WITH(REACH) \
    barrier(CLK_LOCAL_MEM_FENCE); \
  }
#define SUB_GROUP_STEP(REACH) \
  if (GROUP_SIZE > REACH && REACH <= SUB_GROUP_WIDTH) { \
    COMBINE_WITH(REACH) \
    SYNCHRONIZE_SUB_GROUP(); \
  }

inline partial_t reduce_group(partial_t mine, __local partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  scratch[local_id] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  STEP(512)
  STEP(256)
  STEP(128)
  STEP(64)
  STEP(32)
  STEP(16)
  STEP(8)
  STEP(4)
  STEP(2)
  // Other sub-groups skip this: a compiler may let all work-items read what one of them needs, while another writes it.
  if (local_id < SUB_GROUP_WIDTH) {
    SUB_GROUP_STEP(64)
    SUB_GROUP_STEP(32)
    SUB_GROUP_STEP(16)
    SUB_GROUP_STEP(8)
    SUB_GROUP_STEP(4)
    SUB_GROUP_STEP(2)
    // For the same reason the last step does not write: every work-item of the sub-group may read that element, in any
    // order.
    if (local_id == 0) mine = combine(scratch[0], scratch[1]);
  }
#endif
  return mine;
}
