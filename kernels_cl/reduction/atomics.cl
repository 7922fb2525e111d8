// Combines a value into a field of a partial result in memory, by an atomic operation whose result is not needed.

// differs: OpenCL C has other names for atomics on 64 bits; CUDA C++ has them for long long.
#define INTO(name, type, operation) \
  inline void OVERLOADED name(__global type *field, type value) { operation(field, value); }
INTO(min_into, int, atomic_min)
INTO(min_into, uint, atomic_min)
INTO(max_into, int, atomic_max)
INTO(max_into, uint, atomic_max)
#if ATOMIC_BITS == 64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
INTO(min_into, long, atom_min)
INTO(min_into, ulong, atom_min)
INTO(max_into, long, atom_max)
INTO(max_into, ulong, atom_max)
INTO(add_into, ulong, atom_add)
#endif
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
inline void OVERLOADED min_into(__global KEPT *field, KEPT value) {
  const bits_t bits = value != value ? (bits_t)-1 : BITS_OF(value);
  if (bits >= 0)
    min_into((__global bits_t *)field, bits);
  else
    max_into((__global ubits_t *)field, (ubits_t)bits);
}

inline void OVERLOADED max_into(__global KEPT *field, KEPT value) {
  const bits_t bits = value != value ? (bits_t)((ubits_t)-1 >> 1) : BITS_OF(value);
  if (bits >= 0)
    max_into((__global bits_t *)field, bits);
  else
    min_into((__global ubits_t *)field, (ubits_t)bits);
}
#endif
