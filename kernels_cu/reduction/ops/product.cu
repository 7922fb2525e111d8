// The product of the elements: in integers of 64 bits or in float64.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  TOTAL product;
} partial_t;

__device__ inline partial_t make_partial(ELEMENT element, ulong position) {
  partial_t partial;
  partial.product = (TOTAL)element;
  return partial;
}

__device__ inline partial_t identity(void) {
  partial_t partial;
  partial.product = 1;
  return partial;
}

__device__ inline partial_t combine(partial_t a, partial_t b) {
  a.product *= b.product;
  return a;
}
