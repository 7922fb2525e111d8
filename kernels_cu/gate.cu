// Holds the stream until the host has opened the gate: one work-item spins on a word of mapped host memory.

// differs: OpenCL has user events for this and needs no kernel, so this file has no twin.
__device__ inline unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// words[0] is the last ticket opened, words[1] is set to a ticket that nobody opened within limit nanoseconds:
// a host that died must not leave the device spinning.
extern "C" __global__ void wait_for_ticket(volatile unsigned int *words, const unsigned int ticket,
                                           const unsigned long long limit) {
  const unsigned long long start = nanoseconds();
  // The difference is signed, so that the tickets may wrap around.
  while ((int)(words[0] - ticket) < 0) {
    if (nanoseconds() - start > limit) {
      words[1] = ticket;
      __threadfence_system();
      return;
    }
  }
}
// end differs
