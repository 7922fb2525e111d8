// Tickets count the groups that are done: who takes one has published all it wrote, and who takes the last sees what
// all the others published.

// differs: OpenCL C 1.2 orders no groups of one launch: NVIDIA's compiler takes PTX, and on processors atomics order.
inline uint take_ticket(__global uint *tickets) {
#ifdef __NV_CL_C_VERSION
  uint ticket;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(tickets) : "memory");
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  const uint ticket = atomic_inc(tickets);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
  return ticket;
}
// end differs
