// The partial results of a wave (sub-group, warp) become one by shuffles, with neither local memory nor barriers, then
// those of the waves do so in the first of them: one barrier, however large the group. Where an
// instruction combines the words of a wave, by that.

#ifndef WAVE_WIDTH
#error "WAVE_WIDTH is not defined"
#endif
#ifndef USES_REDUX
#error "USES_REDUX is not defined"
#endif
#ifndef REDUX_FIELDS
#error "REDUX_FIELDS is not defined"
#endif

#if GROUP_SIZE < WAVE_WIDTH
#define ACTIVE_WIDTH GROUP_SIZE
#else
#define ACTIVE_WIDTH WAVE_WIDTH
#endif
// The work-items of a wave that there are, a bit each.
#if ACTIVE_WIDTH < 32
#define WAVE_MASK ((1u << ACTIVE_WIDTH) - 1)
#else
#define WAVE_MASK 0xffffffffu
#endif

// differs: NVIDIA's OpenCL compiler takes PTX, AMD's has a built-in function, others tell a wave's width when run.
#if defined(__NV_CL_C_VERSION) || defined(__AMDGCN__)
#define NUM_WAVES (GROUP_SIZE / ACTIVE_WIDTH)
#define WAVE_ITEMS ACTIVE_WIDTH
#define WAVE_ID (local_id / ACTIVE_WIDTH)
#define LANE_ID (local_id % ACTIVE_WIDTH)
#else
#define NUM_WAVES get_num_sub_groups()
#define WAVE_ITEMS get_sub_group_size()
#define WAVE_ID get_sub_group_id()
#define LANE_ID get_sub_group_local_id()
#endif

inline uint shuffled_down(uint word, uint reach) {
#if defined(__NV_CL_C_VERSION)
  asm volatile("shfl.sync.down.b32 %0, %0, %1, 31, %2;" : "+r"(word) : "r"(reach), "r"(WAVE_MASK));
  return word;
#elif defined(__AMDGCN__)
  return __builtin_amdgcn_ds_bpermute(4 * (get_local_id(0) + reach), word);
#else
  return sub_group_shuffle_down(word, reach);
#endif
}
// end differs

// The first work-item of a wave gets what the first `count` of them have, a power of two.
inline partial_t wave_combined(partial_t mine, uint count) {
#if USES_REDUX
#define FIELD(name, across_wave) mine.name = across_wave(mine.name, WAVE_MASK);
// The first of the places of those who have the best of a wave.
#define FIELD_AND_PLACE(name, across_wave, place, place_t)                                                \
  {                                                                                                       \
    const partial_t own = mine;                                                                           \
    mine.name = across_wave(own.name, WAVE_MASK);                                                         \
    mine.place = wave_least_##place_t(IS_SAME(own.name, mine.name) ? own.place : (place_t)-1, WAVE_MASK); \
  }
  REDUX_FIELDS
#undef FIELD_AND_PLACE
#undef FIELD
#else
#pragma unroll
  for (uint reach = count / 2; reach > 0; reach /= 2) {
    union {
      partial_t partial;
      uint words[(sizeof(partial_t) + 3) / 4];
    } other;
    other.partial = mine;
#pragma unroll
    for (int k = 0; k < (sizeof(partial_t) + 3) / 4; ++k) other.words[k] = shuffled_down(other.words[k], reach);
    mine = combined(mine, other.partial);
  }
#endif
  return mine;
}

inline partial_t tree(partial_t mine, __local partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  mine = wave_combined(mine, WAVE_ITEMS);
  if (NUM_WAVES > 1) {
    if (LANE_ID == 0) scratch[WAVE_ID] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (WAVE_ID == 0) {
      mine = LANE_ID < NUM_WAVES ? scratch[LANE_ID] : none();
      for (uint i = LANE_ID + WAVE_ITEMS; i < NUM_WAVES; i += WAVE_ITEMS) mine = combined(mine, scratch[i]);
      mine = wave_combined(mine, NUM_WAVES < WAVE_ITEMS ? NUM_WAVES : WAVE_ITEMS);
    }
  }
#endif
  return mine;
}
