// Tickets count the groups that are done. A group that takes one has published all it wrote; the group that takes the
// last sees what all others published, and the count is 0 again.

// differs: OpenCL C 1.2 orders no groups of one launch: NVIDIA's compiler takes PTX, and on processors atomics order.
// __threadfence() is sequentially consistent, which costs microseconds; acquire and release are enough. An atomic
// addition of 1 does not serve: the compiler may first add up over the sub-group, though only one work-item calls this.
__device__ inline bool takes_last_ticket(uint *tickets, uint count) {
#if HAS_PTX
  const ulong address = __cvta_generic_to_global(tickets);
  uint ticket;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(ticket)
               : "l"(address), "r"(count - 1)
               : "memory");
#else
  __threadfence();
  const uint ticket = atomicInc(tickets, count - 1);
  __threadfence();
#endif
  return ticket == count - 1;
}
// end differs
