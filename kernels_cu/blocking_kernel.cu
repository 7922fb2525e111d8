// Delays the launches enqueued after it: one work-item waits for a given time.

// Used on NVIDIA's GPUs only, where both compilers take PTX; elsewhere a user event blocks the queue.
__device__ inline ulong now(void) {
  ulong time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

extern "C" __global__ void blocking_kernel(const ulong nanoseconds) {
  const ulong start = now();
  while (now() - start < nanoseconds) {
  }
}
