// Words from the work-items beside one in its sub-group, `reach` of them away. Every work-item in `mask` takes part; it
// gets any word where there is no other.

// differs: NVIDIA's OpenCL compiler takes PTX, AMD's has a built-in function, others have an extension.
inline uint shuffled_down(uint word, uint reach, uint mask) {
#if HAS_PTX
  asm volatile("shfl.sync.down.b32 %0, %0, %1, 31, %2;" : "+r"(word) : "r"(reach), "r"(mask));
  return word;
#elif HAS_AMDGCN
  return __builtin_amdgcn_ds_bpermute(4 * (get_local_id(0) + reach), word);
#else
  return sub_group_shuffle_down(word, reach);
#endif
}

inline uint shuffled_up(uint word, uint reach, uint mask) {
#if HAS_PTX
  asm volatile("shfl.sync.up.b32 %0, %0, %1, 0, %2;" : "+r"(word) : "r"(reach), "r"(mask));
  return word;
#elif HAS_AMDGCN
  return __builtin_amdgcn_ds_bpermute(4 * (get_local_id(0) - reach), word);
#else
  return sub_group_shuffle_up(word, reach);
#endif
}
// end differs
