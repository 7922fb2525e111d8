// Reduces each sub-group by shuffles, or by an instruction that combines the words of a sub-group, with neither local
// memory nor barriers; then the first sub-group reduces the results of all: one barrier, whatever the size of the
// group.

#if GROUP_SIZE < SUB_GROUP_WIDTH
#define ACTIVE_WIDTH GROUP_SIZE
#else
#define ACTIVE_WIDTH SUB_GROUP_WIDTH
#endif
// The work-items of a sub-group that exist, one bit each.
#if ACTIVE_WIDTH < 32
#define SUB_GROUP_MASK ((1u << ACTIVE_WIDTH) - 1)
#else
#define SUB_GROUP_MASK 0xffffffffu
#endif

// differs: NVIDIA's and AMD's compilers know the width before, others tell it at run time.
#define NUM_SUB_GROUPS (GROUP_SIZE / ACTIVE_WIDTH)
#define SUB_GROUP_ITEMS ACTIVE_WIDTH
#define SUB_GROUP_ID (local_id / ACTIVE_WIDTH)
#define LANE_ID (local_id % ACTIVE_WIDTH)
// end differs

// Combines the partial results of the first `count` lanes of a sub-group, a power of two, in its first lane.
__device__ inline partial_t combine_sub_group(partial_t mine, uint count) {
#if USES_REDUX
  mine = combine_lanes(mine, SUB_GROUP_MASK);
#else
#pragma unroll
  for (uint reach = count / 2; reach > 0; reach /= 2) {
    union {
      partial_t partial;
      uint words[(sizeof(partial_t) + 3) / 4];
    } other;
    other.partial = mine;
#pragma unroll
    for (int k = 0; k < (sizeof(partial_t) + 3) / 4; ++k) {
      other.words[k] = shuffled_down(other.words[k], reach, SUB_GROUP_MASK);
    }
    mine = combine(mine, other.partial);
  }
#endif
  return mine;
}

__device__ inline partial_t reduce_group(partial_t mine, partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  mine = combine_sub_group(mine, SUB_GROUP_ITEMS);
  if (NUM_SUB_GROUPS > 1) {
    if (LANE_ID == 0) scratch[SUB_GROUP_ID] = mine;
    __syncthreads();
    if (SUB_GROUP_ID == 0) {
      mine = LANE_ID < NUM_SUB_GROUPS ? scratch[LANE_ID] : identity();
      for (uint i = LANE_ID + SUB_GROUP_ITEMS; i < NUM_SUB_GROUPS; i += SUB_GROUP_ITEMS) {
        mine = combine(mine, scratch[i]);
      }
      mine = combine_sub_group(mine, NUM_SUB_GROUPS < SUB_GROUP_ITEMS ? NUM_SUB_GROUPS : SUB_GROUP_ITEMS);
    }
  }
#endif
  return mine;
}
