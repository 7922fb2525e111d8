// Holds the queue until the host has opened the gate: one work-item spins on a word that the host changes.

// NVIDIA's alone: both its compilers take PTX, and elsewhere a user event holds the queue.
inline ulong nanoseconds(void) {
  ulong now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// *opened is the last ticket opened. After limit nanoseconds the kernel ends by itself: a host that died must not leave
// the device spinning.
__kernel void wait_for_ticket(volatile __global uint *opened, const uint ticket, const ulong limit) {
  const ulong start = nanoseconds();
  // The difference is signed, so that the tickets may wrap around.
  while ((int)(*opened - ticket) < 0 && nanoseconds() - start < limit) {
  }
}
