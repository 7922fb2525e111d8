// Holds back what is enqueued behind it: one work-item spins for a time.

// NVIDIA's alone: both its compilers take PTX, and elsewhere a user event holds the queue.
inline ulong now(void) {
  ulong time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__kernel void spin(const ulong nanoseconds) {
  const ulong start = now();
  while (now() - start < nanoseconds) {
  }
}
