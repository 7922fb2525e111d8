// Holds the queue until the host has opened the gate: one work-item spins on a word that the host changes.

// NVIDIA's alone: both its compilers take PTX, and elsewhere a user event holds the queue.
__device__ inline ulong nanoseconds(void) {
  ulong now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// words[0] is the last ticket opened, words[1] is set to a ticket that nobody opened within limit nanoseconds: a host
// that died must not leave the device spinning.
extern "C" __global__ void wait_for_ticket(volatile uint *words, const uint ticket, const ulong limit) {
  const ulong start = nanoseconds();
  // The difference is signed, so that the tickets may wrap around.
  while ((int)(words[0] - ticket) < 0) {
    if (nanoseconds() - start > limit) {
      words[1] = ticket;
      return;
    }
  }
}
