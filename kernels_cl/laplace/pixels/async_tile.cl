// A group copies its tile into local memory, and its work-items take what they need from there. On NVIDIA's GPUs the
// copies are asynchronous (cp.async): a work-item asks for all of its vectors, holds none of them in registers, and
// waits for them together. Elsewhere they are loads and stores.

#define PIXELS_LOCALS __local words_t tile[TILE_HEIGHT * TILE_VECTORS];
#define SOURCE __global const STORED *restrict
#define MEMORY_OF(source) source
#define PIXELS_PARAMETERS , __local words_t *tile
#define PIXELS_ARGUMENTS , tile
#define SHARE_PIXELS(image, column, top) copy_tile(image, column, top, tile)
#define ROW_END_DIFFERS LAST_ITEM_DIFFERS
#define ITEMS_TOGETHER 1

typedef tile_pixels_t pixels_t;

typedef fours_t loaded_t;

inline void copy_vector(__local words_t *to, __global const STORED *from) {
#if HAS_PTX && COMPUTE_CAPABILITY >= 80 && VECTOR_BYTES < 16
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(LOCAL_ADDRESS(to)), "l"(from), "n"(VECTOR_BYTES)
               : "memory");
#elif HAS_PTX && COMPUTE_CAPABILITY >= 80
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / 16; ++i) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(LOCAL_ADDRESS(to) + 16 * i),
                 "l"((__global const uint4 *)from + i)
                 : "memory");
  }
#else
  *to = load_words(from, 0);
#endif
}

inline void wait_for_copies(void) {
#if HAS_PTX && COMPUTE_CAPABILITY >= 80
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Every work-item of the group takes part, also one that has no results of its own.
inline void copy_tile(image_t image, int column, int top, __local words_t *tile) {
  const int across = get_local_id(0);
  const int above = first_row_of_tile(top);
  for (int y = get_local_id(1); y < TILE_HEIGHT; y += GROUP_HEIGHT) {
    __global const STORED *from = row_for_tile(image, above + y) + column;
    __local words_t *to = tile + y * TILE_VECTORS + 1 + across;
    if (column < image.row_elements) copy_vector(to, from);
    if (across == 0 && column > 0) copy_vector(to - 1, from - VECTOR_WIDTH);
    const bool is_last = across == GROUP_WIDTH - 1;
    if (is_last && column + VECTOR_WIDTH < image.row_elements) copy_vector(to + 1, from + VECTOR_WIDTH);
  }
  wait_for_copies();
  barrier(CLK_LOCAL_MEM_FENCE);
}

inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  return tile_pixels_of_item(image, column, own, top);
}

inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  return fours_in_tile(pixels, row, tile);
}

inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  return window_of_fours(pixels.columns, row, loaded);
}
