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

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void copy(__global const STORED *restrict source, const ulong length, __global STORED *restrict destination) {
  const ulong global_id = (ulong)get_group_id(0) * GROUP_SIZE + get_local_id(0);
  const ulong step = (ulong)get_num_groups(0) * GROUP_SIZE;
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
