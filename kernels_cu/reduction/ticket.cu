// Tickets count the groups that are done: who takes one has published all it wrote, and who takes the last sees what
// all the others published. The tickets then start over.

// differs: OpenCL C 1.2 orders no groups of one launch: NVIDIA's compiler takes PTX, and on processors atomics order.
// __threadfence() is sequentially consistent, which costs microseconds; releasing and acquiring is enough. Adding 1
// would not do: the compiler may make of it a sum over the wave first, though a single work-item asks.
__device__ inline bool takes_last_ticket(uint *tickets, uint count) {
  const ulong address = __cvta_generic_to_global(tickets);
  uint ticket;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(ticket)
               : "l"(address), "r"(count - 1)
               : "memory");
  return ticket == count - 1;
}
// end differs
