// Tickets count the groups that are done: who takes one has published all it wrote, and who takes the last sees what
// all the others published.

// differs: OpenCL C 1.2 orders no groups of one launch: NVIDIA's compiler takes PTX, and on processors atomics order.
// __threadfence() is sequentially consistent, which costs microseconds; releasing and acquiring is enough.
__device__ inline uint take_ticket(uint *tickets) {
  const ulong address = __cvta_generic_to_global(tickets);
  uint ticket;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(address) : "memory");
  return ticket;
}
// end differs
