// Tickets count the groups that are done. A group that takes one has published all it wrote; the group that takes the
// last sees what all others published, and the count is 0 again.

// differs: OpenCL C 1.2 orders no groups of one launch: NVIDIA's compiler takes PTX, and on processors atomics order.
// An atomic addition of 1 does not serve: the compiler would first add up over the sub-group, though only one work-item
// calls this.
inline bool takes_last_ticket(__global uint *tickets, uint count) {
#if HAS_PTX
  uint ticket;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(ticket)
               : "l"(tickets), "r"(count - 1)
               : "memory");
  return ticket == count - 1;
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  const bool is_last = atomic_inc(tickets) == count - 1;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (is_last) *tickets = 0;
  return is_last;
#endif
}
// end differs
