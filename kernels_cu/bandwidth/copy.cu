// The limit of copying: every word is loaded and stored.

#ifndef GROUP_SIZE
#error "GROUP_SIZE is not defined"
#endif
#ifndef LOADS_IN_FLIGHT
#error "LOADS_IN_FLIGHT is not defined"
#endif
#ifndef STORED
#error "STORED is not defined"
#endif

extern "C" __global__ __launch_bounds__(GROUP_SIZE)
void copy(const STORED *__restrict__ source, const ulong length, STORED *__restrict__ destination) {
  const ulong global_id = (ulong)blockIdx.x * GROUP_SIZE + threadIdx.x;
  const ulong step = (ulong)gridDim.x * GROUP_SIZE;
  const ulong vectors = length / VECTOR_WIDTH;
  ulong i = global_id;
  for (; i + (LOADS_IN_FLIGHT - 1) * step < vectors; i += LOADS_IN_FLIGHT * step) {
    words_t loaded[LOADS_IN_FLIGHT];
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = load_words(source, i + k * step);
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) store_words(destination, i + k * step, loaded[k]);
  }
  for (; i < vectors; i += step) store_words(destination, i, load_words(source, i));
  for (ulong rest = vectors * VECTOR_WIDTH + global_id; rest < length; rest += step) destination[rest] = source[rest];
}
