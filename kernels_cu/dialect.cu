// What every kernel of this dialect starts from.

// differs: CUDA C++ lacks OpenCL's short names, and NVRTC includes no header for infinity.
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define INFINITY __int_as_float(0x7f800000)
// end differs
