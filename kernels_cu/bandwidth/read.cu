// Bandwidth of a read: every word is loaded and enters a checksum, which is stored only on request.

// A timed call stores a checksum only if it has this value, one in four billion: the compiler cannot know that, so it
// must load everything.
#define RARE 0x9e3779b9u

extern "C" __global__ __launch_bounds__(GROUP_SIZE)
void read(const STORED *__restrict__ source, const ulong length TRAVERSAL_PARAMETERS,
          uint *__restrict__ checksums, const uint report) {
  const uint local_id = threadIdx.x;
  const ulong vectors = length / VECTOR_WIDTH;
  const range_t range = vectors_of_item(vectors, GROUP_AT(blockIdx.x), local_id);
  TRAVERSAL_LOCALS(ulong)
  words_t words = no_words();
  ulong i = range.first;
  for (; i + (LOADS_IN_FLIGHT - 1) * range.step < range.end; i += LOADS_IN_FLIGHT * range.step) {
    words_t loaded[LOADS_IN_FLIGHT];
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = load_words(source, AT(i + k * range.step));
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) words = xor_words(words, loaded[k]);
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
      if (i + k * range.step < range.end) words = xor_words(words, loaded[k]);
    }
  }
  uint checksum = xor_of_words(words);
  const ulong global_id = (ulong)blockIdx.x * GROUP_SIZE + local_id;
  const ulong step = (ulong)gridDim.x * GROUP_SIZE;
  for (ulong rest = vectors * VECTOR_WIDTH + global_id; rest < length; rest += step) {
    checksum ^= (uint)source[rest] ^ (uint)((ulong)source[rest] >> 32);
  }
  if (report || checksum == RARE) checksums[global_id] = checksum;
}
