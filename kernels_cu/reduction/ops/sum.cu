// The sum of a term of each element: in integers of 64 bits or in float64.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  TOTAL total;
} partial_t;

__device__ inline partial_t make_partial(ELEMENT element, ulong position) {
  partial_t partial;
  partial.total = TERM((TOTAL)element);
  return partial;
}

__device__ inline partial_t identity(void) {
  partial_t partial;
  partial.total = 0;
  return partial;
}

__device__ inline partial_t combine(partial_t a, partial_t b) {
  a.total += b.total;
  return a;
}
