// The smallest element.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  KEPT lowest;
} partial_t;

__device__ inline partial_t make_partial(ELEMENT element, ulong position) {
  partial_t partial;
  partial.lowest = element;
  return partial;
}

__device__ inline partial_t identity(void) {
  partial_t partial;
  partial.lowest = HIGHEST;
  return partial;
}

__device__ inline partial_t combine(partial_t a, partial_t b) {
  a.lowest = LESSER(b.lowest, a.lowest);
  return a;
}
