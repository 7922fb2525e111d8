// Has the L2 cache give up what loads with the hint `resident` had it keep of `length` bytes: it treats their lines as
// those of other loads from now on. Else later kernels that read the same source would find them there.

extern "C" __global__ void release(const uint *source, const ulong length) {
  const ulong item = (ulong)blockIdx.x * RELEASE_SIZE + threadIdx.x;
  if ((item + 1) * LINE_BYTES <= length) {
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(source + item * (LINE_BYTES / 4)) : "memory");
  }
}
