// Each group combines its partial result into one cell for each field by atomics, which only integers have; the group
// that takes the last ticket reads the answer and resets the cells to 0 (yan2011: atomics; pcl: an atomic counter).

#define FINISH_PARAMETERS , uint *tickets, CELL *cells
#define FINISH_ARGUMENTS , tickets, cells
#define FINISH_LOCALS

// A cell is unsigned, and 0 as long as nothing has been combined into it: for the least it holds how far below the
// highest value it is, for the greatest how far above the lowest.
#define LEAST_TO_CELL(value) ((CELL)CELL_HIGHEST - (CELL)(value))
#define LEAST_FROM_CELL(cell) ((CELL)CELL_HIGHEST - (cell))
#define GREATEST_TO_CELL(value) ((CELL)(value) - (CELL)CELL_LOWEST)
#define GREATEST_FROM_CELL(cell) ((cell) + (CELL)CELL_LOWEST)
#define ADDED_TO_CELL(value) ((CELL)(value))
#define ADDED_FROM_CELL(cell) (cell)

// differs: OpenCL C has other names for atomics on 64 bits, and overloads those on 32; CUDA C++ has them for long long.
#if CELL_BITS == 64
typedef unsigned long long atomic_t;
#else
typedef unsigned int atomic_t;
#endif
#define LEAST_INTO(cell, value) atomicMax((atomic_t *)(cell), (atomic_t)(value))
#define ADDED_INTO(cell, value) atomicAdd((atomic_t *)(cell), (atomic_t)(value))
#define EMPTIED(cell) ((CELL)atomicExch((atomic_t *)(cell), (atomic_t)0))
// end differs
#define GREATEST_INTO LEAST_INTO

__device__ inline void combine_groups(partial_t *partials, partial_t mine, partial_t *scratch,
                                      uint local_id FINISH_PARAMETERS) {
  if (local_id != 0) return;
#define FIELD(at, name, KIND) KIND##_INTO(cells + at, KIND##_TO_CELL(mine.name));
  CELL_FIELDS
#undef FIELD
  if (!takes_last_ticket(tickets, gridDim.x)) return;
#define FIELD(at, name, KIND) mine.name = KIND##_FROM_CELL(EMPTIED(cells + at));
  CELL_FIELDS
#undef FIELD
  partials[0] = mine;
}
