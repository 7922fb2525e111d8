// A work-group's partial results become one by steps that are all written out; once no more than one wave is active,
// it is kept in order without barriers (pcl: Completely-Unroll). A wave's width is the device's; where that is not
// known, or is one, every step has its barrier.

#ifndef WAVE_WIDTH
#error "WAVE_WIDTH is not defined"
#endif

// differs: NVIDIA's OpenCL compiler takes PTX; elsewhere the items of a wave run in lockstep, but each must see memory.
#define SYNCHRONIZE_WAVE() __syncwarp()
// end differs

// Who writes in a step, and who reads in the next, are the first REACH work-items.
#define COMBINED_WITH(REACH) \
  if (local_id < REACH) scratch[local_id] = combined(scratch[local_id], scratch[local_id + REACH]);
#define STEP(REACH) \
  if (GROUP_SIZE > REACH && REACH > WAVE_WIDTH) { \
    COMBINED_WITH(REACH) \
    __syncthreads(); \
  }
#define WAVE_STEP(REACH) \
  if (GROUP_SIZE > REACH && REACH <= WAVE_WIDTH) { \
    COMBINED_WITH(REACH) \
    SYNCHRONIZE_WAVE(); \
  }

__device__ inline partial_t tree(partial_t mine, partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  scratch[local_id] = mine;
  __syncthreads();
  STEP(512)
  STEP(256)
  STEP(128)
  STEP(64)
  STEP(32)
  STEP(16)
  STEP(8)
  STEP(4)
  STEP(2)
  // The other waves are kept out: a compiler may let all work-items read what one of them needs, beside its writer.
  if (local_id < WAVE_WIDTH) {
    WAVE_STEP(64)
    WAVE_STEP(32)
    WAVE_STEP(16)
    WAVE_STEP(8)
    WAVE_STEP(4)
    WAVE_STEP(2)
    // For the same reason the last step does not write: all of the wave may read that place, in no order.
    if (local_id == 0) mine = combined(scratch[0], scratch[1]);
  }
#endif
  return mine;
}
