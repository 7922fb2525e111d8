// Bandwidth of a copy: every word is loaded and stored.

extern "C" __global__ __launch_bounds__(GROUP_SIZE)
void copy(const STORED *__restrict__ source, const ulong length TRAVERSAL_PARAMETERS,
          STORED *__restrict__ destination) {
  const uint local_id = threadIdx.x;
  const ulong vectors = length / VECTOR_WIDTH;
  const range_t range = vectors_of_item(vectors, GROUP_AT(blockIdx.x), local_id);
  TRAVERSAL_LOCALS(ulong)
  ulong i = range.first;
  for (; i + (LOADS_IN_FLIGHT - 1) * range.step < range.end; i += LOADS_IN_FLIGHT * range.step) {
    words_t loaded[LOADS_IN_FLIGHT];
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = load_words(source, AT(i + k * range.step));
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) store_words(destination, AT(i + k * range.step), loaded[k]);
  }
  // The remaining vectors, fewer than LOADS_IN_FLIGHT: their loads are issued together, too.
  if (i < range.end) {
    words_t loaded[LOADS_IN_FLIGHT];
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT - 1; ++k) {
      if (i + k * range.step < range.end) loaded[k] = load_words(source, AT(i + k * range.step));
    }
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT - 1; ++k) {
      if (i + k * range.step < range.end) store_words(destination, AT(i + k * range.step), loaded[k]);
    }
  }
  const ulong global_id = (ulong)blockIdx.x * GROUP_SIZE + local_id;
  const ulong step = (ulong)gridDim.x * GROUP_SIZE;
  for (ulong rest = vectors * VECTOR_WIDTH + global_id; rest < length; rest += step) destination[rest] = source[rest];
}
