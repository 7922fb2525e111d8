// Each group combines its partial result into the answer by an atomic operation whose result is not needed, and one
// group resets the spare answer for the next call: the buffers alternate from call to call. There is no ticket, no
// fence, and no group waits for another; the call ends with the last atomic.

#define FINISH_PARAMETERS , partial_t *spare
#define FINISH_ARGUMENTS , spare
#define FINISH_LOCALS

// differs: OpenCL C has other names for atomics on 64 bits, and for the bits of a float; CUDA C++ has these atomics for
// long long.
#if CELL_BITS == 64
typedef long long bits_t;
typedef unsigned long long ubits_t;
#define BITS(value) __double_as_longlong(value)
#else
typedef int bits_t;
typedef uint ubits_t;
#define BITS(value) __float_as_int(value)
#endif
#define MIN_INTO(type, cell, value) atomicMin((type *)(cell), (type)(value))
#define MAX_INTO(type, cell, value) atomicMax((type *)(cell), (type)(value))
#define ADD_INTO(type, cell, value) atomicAdd((type *)(cell), (type)(value))
// end differs

#if CELL_IS_FLOAT
// Non-negative floats are ordered as their bits, negative ones in reverse. As signed integers all non-negative floats
// are above all negative ones; as unsigned integers, below. NaN becomes the value that neither order replaces.
__device__ inline void least_into(CELL *cell, CELL value) {
  const bits_t bits = value != value ? (bits_t)-1 : BITS(value);
  if (bits >= 0)
    MIN_INTO(bits_t, cell, bits);
  else
    MAX_INTO(ubits_t, cell, bits);
}
__device__ inline void greatest_into(CELL *cell, CELL value) {
  const bits_t bits = value != value ? (bits_t)((ubits_t)-1 >> 1) : BITS(value);
  if (bits >= 0)
    MAX_INTO(bits_t, cell, bits);
  else
    MIN_INTO(ubits_t, cell, bits);
}
#else
#define IS_SIGNED ((CELL)-1 < (CELL)1)
__device__ inline void least_into(CELL *cell, CELL value) {
  if (IS_SIGNED)
    MIN_INTO(bits_t, cell, value);
  else
    MIN_INTO(ubits_t, cell, value);
}
__device__ inline void greatest_into(CELL *cell, CELL value) {
  if (IS_SIGNED)
    MAX_INTO(bits_t, cell, value);
  else
    MAX_INTO(ubits_t, cell, value);
}
#endif
#define LEAST_INTO(cell, value) least_into(cell, value)
#define GREATEST_INTO(cell, value) greatest_into(cell, value)
#define ADDED_INTO(cell, value) ADD_INTO(ubits_t, cell, value)

__device__ inline void combine_groups(partial_t *partials, partial_t mine, partial_t *scratch,
                                      uint local_id FINISH_PARAMETERS) {
  if (local_id != 0) return;
#define FIELD(name, KIND) KIND##_INTO(&partials->name, mine.name);
  CELL_FIELDS
#undef FIELD
  if (blockIdx.x == 0) *spare = identity();
}
