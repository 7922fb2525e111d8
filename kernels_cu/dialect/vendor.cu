// What one vendor's compiler can be told, or has to be: PTX for NVIDIA's. Other compilers get what `portable` defines.

// differs: NVIDIA's compilers take PTX, AMD's has built-in functions; in OpenCL the text asks which compiler it is.
#define IS_PORTABLE 0
#define HAS_PTX 1
// Hides how an index was computed: NVRTC would multiply each of its terms for the address, nine instructions before the
// first load.
#define OPAQUE_INDEX(index) asm("" : "+l"(index))
// Keeps the address of a group's local memory in a register; ptxas would compute it again at each use.
#define OPAQUE_SHARED(type, memory) ((type *)__cvta_shared_to_generic(opaque_address(__cvta_generic_to_shared(memory))))
__device__ __forceinline__ uint opaque_address(uint address) {
  asm("" : "+r"(address));
  return address;
}
// A compiler fence: loads before it are issued before their results are used. Without it NVIDIA's assembler may save
// registers by waiting for the first two loads before it issues the others. It moves no instruction past a profiler's
// trigger (pmevent). The trigger never fires, since no launch has 0 groups: one that fires costs up to a fortieth of a
// small reduction's time.
#define LOADS_ISSUED_FENCE() \
  asm volatile("{ .reg .pred never; setp.eq.u32 never, %0, 0; @never pmevent 0; }" ::"r"(gridDim.x) : "memory")
// Does nothing: only NVIDIA's OpenCL compiler needs it.
#define KEEP_BRANCH()
// end differs
