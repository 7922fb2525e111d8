// Vectors of VECTOR_WIDTH elements. EACH_COMPONENT and COMPONENT let one text compute on whole vectors in OpenCL C and
// on single components in CUDA C++. ADD_WIDENED widens the components of a batch's vector and adds them to any
// components of a wider one.

// differs: OpenCL C computes on vectors as a whole, CUDA C++ component by component.
#define JOIN_EXPANDED(a, b) a##b
#define JOIN(a, b) JOIN_EXPANDED(a, b)
#if VECTOR_WIDTH == 1
#define VECTOR_OF(type) type
#define ANY(truth) (truth)
#define ONES(type, truth) ((type)(truth))
#else
#define VECTOR_OF(type) JOIN(type, VECTOR_WIDTH)
#define ANY(truth) any(truth)
#define ONES(type, truth) CONVERT(type, -(truth))
#endif
#define EACH_COMPONENT
#define COMPONENT(vector) (vector)
#define COMPONENT_AT(type, vector, at) (((const type *)&(vector))[at])
#if VECTOR_WIDTH <= 16
#define CONVERT(type, value) JOIN(convert_, VECTOR_OF(type))(value)
#define ADD_WIDENED(type, into, value) COMPONENT(into) += CONVERT(type, COMPONENT(value))
#define REINTERPRET(type, value) JOIN(as_, VECTOR_OF(type))(value)
#else
// OpenCL C has vectors of at most 16 components: of bytes, a quarter of a processor's register. Clang's own vectors are
// longer.
#define CONVERT(type, value) __builtin_convertvector(value, VECTOR_OF(type))
#define REINTERPRET(type, value) __builtin_astype(value, VECTOR_OF(type))
#define WIDE(type) typedef type VECTOR_OF(type) __attribute__((ext_vector_type(VECTOR_WIDTH)));
WIDE(char)
WIDE(uchar)
WIDE(short)
WIDE(ushort)
WIDE(int)
WIDE(uint)
WIDE(long)
WIDE(ulong)
#define WITH_EXTREMES(type)                                                                        \
  inline VECTOR_OF(type) __attribute__((overloadable)) min(VECTOR_OF(type) x, VECTOR_OF(type) y) { \
    return y < x ? y : x;                                                                          \
  }                                                                                                \
  inline VECTOR_OF(type) __attribute__((overloadable)) max(VECTOR_OF(type) x, VECTOR_OF(type) y) { \
    return y > x ? y : x;                                                                          \
  }
WITH_EXTREMES(char)
WITH_EXTREMES(uchar)
WITH_EXTREMES(short)
WITH_EXTREMES(ushort)
WITH_EXTREMES(int)
// Fewer components are widened: groups of four or eight of the batch are added up before.
#if LOADS_IN_FLIGHT > 15
#error "LOADS_IN_FLIGHT is over 15: eight components of a batch of bytes overflow"
#endif
#if VECTOR_WIDTH == 32
#define ADD_WIDENED(type, into, value)                                    \
  {                                                                       \
    const __typeof__((value).lo) halved = (value).lo + (value).hi;        \
    (into).lo.lo += JOIN(convert_, JOIN(type, 8))(halved.lo + halved.hi); \
  }
#else
#define ADD_WIDENED(type, into, value)                                             \
  {                                                                                \
    const __typeof__((value).lo) halved = (value).lo + (value).hi;                 \
    const __typeof__(halved.lo) quartered = halved.lo + halved.hi;                 \
    (into).lo.lo.lo += JOIN(convert_, JOIN(type, 8))(quartered.lo + quartered.hi); \
  }
#endif
#if VECTOR_WIDTH == 32
#define WITH_ANY(type) \
  inline int __attribute__((overloadable)) any(VECTOR_OF(type) truth) { return any(truth.lo | truth.hi); }
#else
#define WITH_ANY(type)                                                                   \
  inline int __attribute__((overloadable)) any(VECTOR_OF(type) truth) {                  \
    const JOIN(type, 16) parts[] = {truth.lo.lo, truth.lo.hi, truth.hi.lo, truth.hi.hi}; \
    return any((parts[0] | parts[1]) | (parts[2] | parts[3]));                           \
  }
#endif
WITH_ANY(char)
WITH_ANY(short)
#endif
#define SPLAT(type, value) ((VECTOR_OF(type))(value))
// end differs
