// What every kernel of this language needs first: types, constants, and functions that only one language has.

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
// end differs
