// Pixels outside have BORDER_VALUE. The nearest pixel is read in their place, because its address is valid, and not
// used.
#define BORDER_IS_CONSTANT 1

__device__ inline int before_first(int size) {
  return 0;
}

__device__ inline int after_last(int size) {
  return size - 1;
}
