// What every kernel of this dialect needs first: types, constants, and functions that one vendor's compiler lacks.

// differs: OpenCL C has its short names, infinity and NaN built in, fp64 must be asked for; NVRTC includes no header.
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define FLOAT_BITS(value) __float_as_int(value)
#define DOUBLE_BITS(value) __double_as_longlong(value)
#define ALWAYS_INLINE __device__ __forceinline__
// Only OpenCL C has a word for functions of one name for several types.
#define OVERLOADED
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
