// Tickets count the groups that are done: who takes one has published all it wrote, and who takes the last sees what
// all the others published. The tickets then start over.

// differs: OpenCL C 1.2 orders no groups of one launch: NVIDIA's compiler takes PTX, and on processors atomics order.
// Adding 1 would not do: the compiler makes of it a sum over the wave first, though a single work-item asks.
inline bool takes_last_ticket(__global uint *tickets, uint count) {
#ifdef __NV_CL_C_VERSION
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
