// A group copies its tile into local memory, and its work-items take what they need from there: their own elements of
// a row and the four on either side of them. The tile has its results' elements, vectors on each side, where the
// vectors of the image begin, and a row above and below: the image's or, outside, the one that the border reads in its
// place. On NVIDIA's GPUs the copies are asynchronous (cp.async): a work-item asks for all of its vectors, holds none
// of them in registers, and waits for them together. Elsewhere they are loads and stores.

// Vectors on each side, of which the nearest is filled: as many as keep rows aligned to what a GPU's cache delivers at
// a time, or cp.async asks for it twice.
#define SECTOR_BYTES 32
#define TILE_MARGIN (VECTOR_BYTES < SECTOR_BYTES ? SECTOR_BYTES / VECTOR_BYTES : 1)
#define TILE_VECTORS (GROUP_WIDTH + 2 * TILE_MARGIN)
#define TILE_HEIGHT (GROUP_HEIGHT * ROWS_PER_ITEM + 2)

#define PIXELS_LOCALS __local words_t tile[TILE_HEIGHT * TILE_VECTORS] __attribute__((aligned(SECTOR_BYTES)));
#define SOURCE __global const STORED *restrict
#define MEMORY_OF(source) source
#define PIXELS_PARAMETERS , __local words_t *tile
#define PIXELS_ARGUMENTS , tile
#define SHARE_PIXELS(image, column, top) copy_tile(image, column, top, tile)
#define ROW_END_DIFFERS (LAST_ITEM_DIFFERS || ITEMS_TOGETHER > 1)

// For PTX.
// differs: in OpenCL a pointer to local memory is an address in it, in CUDA it is converted to one.
#define LOCAL_ADDRESS(pointer) ((uint)(ulong)(pointer))
// end differs

// own: where the item's own elements lie in the first row of the tile. above: that row in the image.
typedef struct {
  four_columns_t columns;
  int own, above;
} pixels_t;

typedef fours_t loaded_t;

// The row of the image that is the tile's first, of an item whose own begin at `top`.
inline int first_row_of_tile(int top) {
  return top - (int)get_local_id(1) * ROWS_PER_ITEM - 1;
}

// What is read for a row of a tile. Rows that no result needs are any row.
inline __global const STORED *row_for_tile(image_t image, int row) {
  return row_to_read(image, min(row, image.height));
}

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
    __local words_t *to = tile + y * TILE_VECTORS + TILE_MARGIN + across;
    if (column < image.row_elements) copy_vector(to, from);
    if (across == 0 && column > 0) copy_vector(to - 1, from - VECTOR_WIDTH);
    const bool is_last = across == GROUP_WIDTH - 1;
    if (is_last && column + VECTOR_WIDTH < image.row_elements) copy_vector(to + 1, from + VECTOR_WIDTH);
  }
  wait_for_copies();
  barrier(CLK_LOCAL_MEM_FENCE);
}

inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  pixels_t pixels;
  pixels.columns = four_columns_of_item(image, column, own);
  pixels.own = TILE_MARGIN + get_local_id(0);
  pixels.above = first_row_of_tile(top);
  return pixels;
}

inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  __local words_t *own = tile + (row - pixels.above) * TILE_VECTORS + pixels.own;
  loaded_t fours;
  fours.own.words = *own;
  if (pixels.columns.is_at_row_end) {
    neighbours_at_row_end(pixels.columns, row_for_tile(pixels.columns.image, row), &fours);
  } else {
    fours.before.load = *(__local four_t *)((__local STORED *)own - 4);
    fours.behind.load = *(__local four_t *)(own + 1);
  }
  return fours;
}

inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  return window_of_fours(pixels.columns, row, loaded);
}
