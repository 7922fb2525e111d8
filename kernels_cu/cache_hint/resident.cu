// Loads of which the L2 cache keeps KEPT_SIXTEENTHS sixteenths of the lines, the same in each call, and gives up the
// others first with GIVES_UP_OTHERS, else as it does without a hint; stores that it gives up first. A source larger
// than the cache, read over and over, would else push out each line before it is read again.

// differs: OpenCL C moves a whole vector, NVIDIA's in PTX; CUDA C++ has functions for each width.
#define LOAD_WORDS(from) load_resident(from)
#define STORE_WORDS(to, words) __stcs(to, words)
// end differs

#if GIVES_UP_OTHERS
#define OTHERS "L2::evict_first"
#else
#define OTHERS "L2::evict_unchanged"
#endif

__device__ inline ulong resident_policy(void) {
  ulong policy;
#if KEPT_SIXTEENTHS
  // The hardware counts in sixteenths and rounds up.
  asm("createpolicy.fractional.L2::evict_last." OTHERS ".b64 %0, %1;"
      : "=l"(policy)
      : "f"((KEPT_SIXTEENTHS - 0.25f) / 16));
#else
  asm("createpolicy.fractional." OTHERS ".b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}
// differs: CUDA C++ has its functions behind what they use.
__device__ inline uint2 load_resident(const uint2 *from) {
  uint2 words;
  asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
      : "=r"(words.x), "=r"(words.y)
      : "l"(from), "l"(resident_policy()));
  return words;
}

__device__ inline uint4 load_resident(const uint4 *from) {
  uint4 words;
  asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
      : "l"(from), "l"(resident_policy()));
  return words;
}
// end differs
