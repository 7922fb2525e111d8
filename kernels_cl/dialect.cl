// What every kernel of this dialect starts from.

// differs: OpenCL C has its short names, infinity and NaN built in, fp64 must be asked for; NVRTC includes no header.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define ALWAYS_INLINE inline __attribute__((always_inline))
// end differs
