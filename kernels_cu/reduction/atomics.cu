// Combines a value into a field of a partial result in memory, by an atomic operation whose result is not needed.

// differs: OpenCL C has other names for atomics on 64 bits; CUDA C++ has them for long long.
#define INTO(name, type, operation, atomic_t) \
  __device__ inline void name(type *field, type value) { operation((atomic_t *)field, (atomic_t)value); }
INTO(min_into, int, atomicMin, int)
INTO(min_into, uint, atomicMin, uint)
INTO(min_into, long, atomicMin, long long)
INTO(min_into, ulong, atomicMin, unsigned long long)
INTO(max_into, int, atomicMax, int)
INTO(max_into, uint, atomicMax, uint)
INTO(max_into, long, atomicMax, long long)
INTO(max_into, ulong, atomicMax, unsigned long long)
INTO(add_into, ulong, atomicAdd, unsigned long long)
// end differs

#if ELEMENT_IS_FLOAT
#if ELEMENT_BITS == 64
typedef long bits_t;
typedef ulong ubits_t;
#define BITS_OF(value) DOUBLE_BITS(value)
#else
typedef int bits_t;
typedef uint ubits_t;
#define BITS_OF(value) FLOAT_BITS(value)
#endif

// Non-negative floats are ordered as their bits, negative ones in reverse. As signed integers all non-negative floats
// are above all negative ones; as unsigned integers, below. NaN becomes the value that neither order replaces.
__device__ inline void OVERLOADED min_into(KEPT *field, KEPT value) {
  const bits_t bits = value != value ? (bits_t)-1 : BITS_OF(value);
  if (bits >= 0)
    min_into((bits_t *)field, bits);
  else
    max_into((ubits_t *)field, (ubits_t)bits);
}

__device__ inline void OVERLOADED max_into(KEPT *field, KEPT value) {
  const bits_t bits = value != value ? (bits_t)((ubits_t)-1 >> 1) : BITS_OF(value);
  if (bits >= 0)
    max_into((bits_t *)field, bits);
  else
    min_into((ubits_t *)field, (ubits_t)bits);
}
#endif
