// What every kernel of this language needs first: types, constants, and functions that only one language has.

// differs: OpenCL C has its short names, infinity and NaN built in, fp64 must be asked for; NVRTC includes no header.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define FLOAT_BITS(value) as_int(value)
#define DOUBLE_BITS(value) as_long(value)
#define ALWAYS_INLINE inline __attribute__((always_inline))
// Functions of one name for several types.
#define OVERLOADED __attribute__((overloadable))
// end differs
