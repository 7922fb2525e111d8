// How many elements are not zero; NaN is not.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif

// What a work-item, a group, a launch hands on.
typedef struct {
  ulong count;
} partial_t;

__device__ inline partial_t lifted(ELEMENT element, ulong position) {
  partial_t partial;
  partial.count = element != 0;
  return partial;
}

__device__ inline partial_t none(void) {
  partial_t partial;
  partial.count = 0;
  return partial;
}

__device__ inline partial_t combined(partial_t a, partial_t b) {
  a.count += b.count;
  return a;
}
