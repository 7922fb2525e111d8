// What one vendor's compiler can be told, or has to be: PTX for NVIDIA's. Other compilers get what `portable` defines.

// differs: NVIDIA's compilers take PTX, AMD's has built-in functions; in OpenCL the text asks which compiler it is.
#define IS_PORTABLE 0
// Does nothing: only CUDA's compiler needs it.
#define OPAQUE_INDEX(index)
#ifdef __NV_CL_C_VERSION
#define HAS_PTX 1
// Keeps the address of a group's local memory in a register; ptxas would compute it again at each use.
#define OPAQUE_SHARED(type, memory) ((__local type *)opaque_address((ulong)(memory)))
inline ulong opaque_address(ulong address) {
  asm("" : "+l"(address));
  return address;
}
// Special registers. A dimension whose function is not defined here does not compile.
#define SPECIAL_REGISTER(name, of)            \
  inline uint name(void) {                    \
    uint value;                               \
    asm("mov.u32 %0, " of ";" : "=r"(value)); \
    return value;                             \
  }
#ifdef GROUP_SIZE
// The position in the group as 32 bits: ptxas then recognises the work-item that has position 0. In groups of two
// dimensions the built-in function is faster (the Laplace filter on an H200).
SPECIAL_REGISTER(local_id_0, "%%tid.x")
#define get_local_id(dimension) local_id_##dimension()
#endif
// NVIDIA's built-in functions add an offset from memory, for launches too large for CUDA. These launches are never so
// large, and the first instructions of a kernel would wait for that load.
SPECIAL_REGISTER(group_id_0, "%%ctaid.x")
SPECIAL_REGISTER(group_id_1, "%%ctaid.y")
SPECIAL_REGISTER(num_groups_0, "%%nctaid.x")
SPECIAL_REGISTER(num_groups_1, "%%nctaid.y")
#define get_group_id(dimension) group_id_##dimension()
#define get_num_groups(dimension) num_groups_##dimension()
// A compiler fence: loads before it are issued before their results are used. Without it NVIDIA's assembler may save
// registers by waiting for the first two loads before it issues the others. It moves no instruction past a profiler's
// trigger (pmevent). The trigger never fires, since no launch has 0 groups: one that fires costs up to a fortieth of a
// small reduction's time.
#define LOADS_ISSUED_FENCE() \
  asm volatile("{ .reg .pred never; setp.eq.u32 never, %0, 0; @never pmevent 0; }" ::"r"(get_num_groups(0)) : "memory")
// Keeps the branch that it stands in: NVIDIA's compiler would compute on values that were not loaded, and select
// afterwards.
#define KEEP_BRANCH() asm volatile("")
#else
#define HAS_PTX 0
#define OPAQUE_SHARED(type, memory) (memory)
#define LOADS_ISSUED_FENCE()
#define KEEP_BRANCH()
#endif
// Whether AMD's functions of a sub-group are there.
#ifdef __AMDGCN__
#define HAS_AMDGCN 1
#else
#define HAS_AMDGCN 0
#endif
// end differs
