// What every kernel of this dialect starts from.

// differs: OpenCL C has its short names, infinity and NaN built in, fp64 must be asked for; NVRTC includes no header.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define ALWAYS_INLINE inline __attribute__((always_inline))
// What CUDA's compiler must be told of an index, OpenCL's do by themselves.
#define AS_ONE(index)
#ifdef __NV_CL_C_VERSION
// Keeps where a group's memory begins in a register: ptxas would ask for that again at each use.
#define HELD(type, memory) ((__local type *)held((ulong)(memory)))
inline ulong held(ulong address) {
  asm("" : "+l"(address));
  return address;
}
#ifdef GROUP_SIZE
// Of 32 bits, not widened and narrowed again: ptxas then knows the one work-item that has it as 0. In groups of two
// dimensions the built-in function is 1 to 3 % faster (the Laplace filter on an H200).
inline uint item_id(void) {
  uint id;
  asm("mov.u32 %0, %%tid.x;" : "=r"(id));
  return id;
}
#define get_local_id(dimension) item_id()
#endif
// NVIDIA's built-in functions add what its driver keeps in memory, for launches too large for CUDA: ours are not, and
// the first work of a kernel would wait for it.
inline uint group_id(uint dimension) {
  uint id;
  if (dimension == 0)
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(id));
  else
    asm("mov.u32 %0, %%ctaid.y;" : "=r"(id));
  return id;
}
inline uint num_groups_across(void) {
  uint count;
  asm("mov.u32 %0, %%nctaid.x;" : "=r"(count));
  return count;
}
#define get_group_id(dimension) group_id(dimension)
#define get_num_groups(dimension) num_groups_across()
// Written after loads, keeps what uses them behind the last: NVIDIA's assembler may save registers by waiting for the
// first two before it asks for the others. It moves nothing past a profiler's trigger, though none is ever pulled here:
// there is no launch of no groups. One that is pulled costs up to a fortieth of a small reduction.
#define ALL_UNDER_WAY()                                                                                        \
  asm volatile("{ .reg .pred never; setp.eq.u32 never, %0, 0; @never pmevent 0; }" ::"r"(get_num_groups(0)) : "memory")
// Written in a branch, keeps it one: NVIDIA's compiler computes on what was not even loaded, and then selects.
#define NO_SPECULATION() asm volatile("")
#else
#define HELD(type, memory) (memory)
#define ALL_UNDER_WAY()
#define NO_SPECULATION()
#endif
// end differs
