// Bandwidth of a copy: every word is loaded and stored.

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void copy(__global const STORED *restrict source, const ulong length TRAVERSAL_PARAMETERS,
          __global STORED *restrict destination) {
  const uint local_id = get_local_id(0);
  const ulong vectors = length / VECTOR_WIDTH;
  const range_t range = vectors_of_item(vectors, GROUP_AT(get_group_id(0)), local_id);
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
  const ulong global_id = (ulong)get_group_id(0) * GROUP_SIZE + local_id;
  const ulong step = (ulong)get_num_groups(0) * GROUP_SIZE;
  for (ulong rest = vectors * VECTOR_WIDTH + global_id; rest < length; rest += step) destination[rest] = source[rest];
}
