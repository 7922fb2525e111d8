// Words from the work-items beside one in its sub-group, `reach` of them away. Every work-item in `mask` takes part; it
// gets any word where there is no other.

// differs: NVIDIA's OpenCL compiler takes PTX, AMD's has a built-in function, others have an extension.
__device__ inline uint shuffled_down(uint word, uint reach, uint mask) {
  return __shfl_down_sync(mask, word, reach);
}

__device__ inline uint shuffled_up(uint word, uint reach, uint mask) {
  return __shfl_up_sync(mask, word, reach);
}
// end differs
