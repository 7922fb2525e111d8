// Each group but the last publishes its partial result in 64-bit words, half of each the value and half a flag: a
// reader that sees the flag has the value, so no fence and no ticket are needed. The last group waits for the words of
// all others, combines them in a fixed order and resets them to 0: one launch, and the same answer each time. (Merrill
// and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016, publish status and value in this way.)

#define FINISH_PARAMETERS , __global ulong *published
#define FINISH_ARGUMENTS , published
#define FINISH_LOCALS

// Words are loaded and stored in pairs, 16 bytes at once.
#define PARTIAL_PAIRS ((sizeof(partial_t) + 7) / 8)
#define FLAG ((ulong)1 << 32)

// How many partial results a work-item of the last group reads before it combines the first of them: as many as need
// hardly more registers than the loop over the source.
#define PAIRS_AT_ONCE (1024 / GROUP_SIZE)
#define READ_AT_ONCE (PAIRS_AT_ONCE >= 4 * PARTIAL_PAIRS ? 4 : PAIRS_AT_ONCE >= 2 * PARTIAL_PAIRS ? 2 : 1)

typedef union {
  partial_t partial;
  uint words[2 * PARTIAL_PAIRS];
} parts_t;

// differs: OpenCL C 1.2 has no relaxed access to memory that other groups write: NVIDIA's compiler takes PTX, elsewhere
// an atomic that changes nothing reads.
#if HAS_PTX
inline void publish(__global ulong *pair, ulong first, ulong second) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(pair), "l"(first), "l"(second) : "memory");
}
inline void read_published(__global ulong *pair, ulong *first, ulong *second) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(*first), "=l"(*second) : "l"(pair) : "memory");
}
#else
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
inline void publish(__global ulong *pair, ulong first, ulong second) {
  atom_xchg(pair, first);
  atom_xchg(pair + 1, second);
}
inline void read_published(__global ulong *pair, ulong *first, ulong *second) {
  *first = atom_add(pair, (ulong)0);
  *second = atom_add(pair + 1, (ulong)0);
}
#endif
// end differs

inline void combine_groups(__global partial_t *partials, partial_t mine, __local partial_t *scratch,
                           uint local_id FINISH_PARAMETERS) {
  const uint others = get_num_groups(0) - 1;
  if (get_group_id(0) < others) {
    if (local_id == 0) {
      parts_t parts;
      parts.words[2 * PARTIAL_PAIRS - 1] = 0;
      parts.partial = mine;
#pragma unroll
      for (uint p = 0; p < PARTIAL_PAIRS; ++p) {
        publish(published + 2 * (PARTIAL_PAIRS * get_group_id(0) + p), FLAG | parts.words[2 * p],
                FLAG | parts.words[2 * p + 1]);
      }
    }
    return;
  }
  if (local_id != 0) mine = identity();
  // The loop rarely runs more than once, so it is not unrolled.
#pragma unroll 1
  for (uint from = local_id; from < others; from += READ_AT_ONCE * GROUP_SIZE) {
    parts_t read[READ_AT_ONCE];
    __global ulong *pairs = published + 2 * PARTIAL_PAIRS * from;
    OPAQUE_INDEX(pairs);
    uint flags;
    do {
      flags = 1;
#pragma unroll
      for (uint k = 0; k < READ_AT_ONCE; ++k) {
        if (from + k * GROUP_SIZE >= others) continue;
#pragma unroll
        for (uint p = 0; p < PARTIAL_PAIRS; ++p) {
          ulong first, second;
          read_published(pairs + 2 * (PARTIAL_PAIRS * k * GROUP_SIZE + p), &first, &second);
          read[k].words[2 * p] = (uint)first;
          read[k].words[2 * p + 1] = (uint)second;
          flags &= (uint)(first >> 32) & (uint)(second >> 32);
        }
      }
    } while (flags == 0);
#pragma unroll
    for (uint k = 0; k < READ_AT_ONCE; ++k) {
      if (from + k * GROUP_SIZE >= others) continue;
      mine = combine(mine, read[k].partial);
#pragma unroll
      for (uint p = 0; p < PARTIAL_PAIRS; ++p) publish(pairs + 2 * (PARTIAL_PAIRS * k * GROUP_SIZE + p), 0, 0);
    }
  }
#if GROUP_SIZE > 1
  // Some work-items may still read what reduce_group has left in local memory.
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  mine = reduce_group(mine, scratch, local_id);
  if (local_id == 0) *partials = mine;
}
