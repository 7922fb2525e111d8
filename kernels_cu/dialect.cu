// What every kernel of this dialect starts from.

// differs: OpenCL C has its short names, infinity and NaN built in, fp64 must be asked for; NVRTC includes no header.
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define ALWAYS_INLINE __device__ __forceinline__
// Keeps an index a number of its own: NVRTC would multiply each of its terms out for the address, nine instructions
// before the first load.
#define AS_ONE(index) asm("" : "+l"(index))
// Keeps where a group's memory begins in a register: ptxas would ask for that again at each use.
#define HELD(type, memory) ((type *)__cvta_shared_to_generic(held(__cvta_generic_to_shared(memory))))
__device__ __forceinline__ uint held(uint address) {
  asm("" : "+r"(address));
  return address;
}
// Written after loads, keeps what uses them behind the last: NVIDIA's assembler may save registers by waiting for the
// first two before it asks for the others. It moves nothing past a profiler's trigger, though none is ever pulled here:
// there is no launch of no groups. One that is pulled costs up to a fortieth of a small reduction.
#define ALL_UNDER_WAY()                                                                                   \
  asm volatile("{ .reg .pred never; setp.eq.u32 never, %0, 0; @never pmevent 0; }" ::"r"(gridDim.x) : "memory")
// What OpenCL's compiler must be told of a branch, NVRTC does by itself.
#define NO_SPECULATION()
// end differs
