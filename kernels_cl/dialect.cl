// What every kernel of this dialect starts from.

// differs: OpenCL C has these types and limits built in; fp64 must be asked for before OpenCL 1.2's core has it.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
// end differs
