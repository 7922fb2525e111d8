// Each group but the last publishes its partial result in words of 64 bits, half of each the value and half a flag: who
// sees the flag has the value, so that neither a fence nor a ticket is waited for. The last group waits for the words
// of all the others, merges them in a fixed order and leaves zeros: one launch, and the same answer each time.
// (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016, publish status and value so.)

#define FINISH_PARAMETERS , __global ulong *published
#define FINISH_ARGUMENTS , published
#define FINISH_LOCALS

#define PARTIAL_WORDS ((sizeof(partial_t) + 3) / 4)
#define FLAG ((ulong)1 << 32)

// Partial results that a work-item of the last group reads before it combines the first of them: as many as take hardly
// more registers than folding the source does.
#define WORDS_AT_ONCE (2048 / GROUP_SIZE)
#define READ_AT_ONCE (WORDS_AT_ONCE >= 4 * PARTIAL_WORDS ? 4 : WORDS_AT_ONCE >= 2 * PARTIAL_WORDS ? 2 : 1)

typedef union {
  partial_t partial;
  uint words[PARTIAL_WORDS];
} parts_t;

// differs: OpenCL C 1.2 has no relaxed access to memory that other groups write: NVIDIA's compiler takes PTX, elsewhere
// an atomic that changes nothing reads.
#ifdef __NV_CL_C_VERSION
inline void publish(__global ulong *slot, ulong word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(slot), "l"(word) : "memory");
}
inline ulong published_in(__global ulong *slot) {
  ulong word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
  return word;
}
#else
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
inline void publish(__global ulong *slot, ulong word) { atom_xchg(slot, word); }
inline ulong published_in(__global ulong *slot) { return atom_add(slot, (ulong)0); }
#endif
// end differs

inline void finish(__global partial_t *partials, partial_t mine, __local partial_t *scratch,
                   uint local_id FINISH_PARAMETERS) {
  const uint others = get_num_groups(0) - 1;
  if (get_group_id(0) < others) {
    if (local_id == 0) {
      parts_t parts;
      parts.partial = mine;
#pragma unroll
      for (uint w = 0; w < PARTIAL_WORDS; ++w) {
        publish(published + w * others + get_group_id(0), FLAG | parts.words[w]);
      }
    }
    return;
  }
  if (local_id != 0) mine = none();
  // Rarely more than once, so that a copy of the loop unrolled would only be in the way.
#pragma unroll 1
  for (uint first = local_id; first < others; first += READ_AT_ONCE * GROUP_SIZE) {
    parts_t read[READ_AT_ONCE];
    bool is_complete;
    do {
      ulong flags = FLAG;
#pragma unroll
      for (uint k = 0; k < READ_AT_ONCE; ++k) {
        const uint at = first + k * GROUP_SIZE;
        if (at >= others) continue;
#pragma unroll
        for (uint w = 0; w < PARTIAL_WORDS; ++w) {
          const ulong word = published_in(published + w * others + at);
          read[k].words[w] = (uint)word;
          flags &= word;
        }
      }
      is_complete = flags != 0;
    } while (!is_complete);
#pragma unroll
    for (uint k = 0; k < READ_AT_ONCE; ++k) {
      const uint at = first + k * GROUP_SIZE;
      if (at >= others) continue;
      mine = combined(mine, read[k].partial);
#pragma unroll
      for (uint w = 0; w < PARTIAL_WORDS; ++w) published[w * others + at] = 0;
    }
  }
#if GROUP_SIZE > 1
  // Some still read what the group's own tree has left there.
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  mine = tree(mine, scratch, local_id);
  if (local_id == 0) *partials = mine;
}
