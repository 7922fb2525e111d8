// jia2012, local memory: a group reads the rectangle of its results, and one pixel more on each side, into local memory
// once, and its work-items read their neighbours there. What border_code says holds for that first reading.

#define TILE_WIDTH (GROUP_WIDTH * VECTOR_WIDTH + 2 * CHANNELS)
#define TILE_HEIGHT (GROUP_HEIGHT * ROWS_PER_ITEM + 2)
#define PIXELS_LOCALS __shared__ STORED tile[TILE_HEIGHT * TILE_WIDTH];
#define SOURCE const STORED *__restrict__
#define MEMORY_OF(source) source
#define PIXELS_PARAMETERS , STORED *tile
#define PIXELS_ARGUMENTS , tile
#define SHARE_PIXELS(image, column, top) fill_tile(image, column, top, tile)
#define ROW_END_DIFFERS 0
// differs: Intel's compiler for processors stores bytes at wrong places of a tile when it computes several items at
// once, so it is told not to.
// end differs

// first: where the item's own elements lie in the first row of the tile. top: that row in the image.
typedef struct {
  STORED *tile;
  int first, top;
} pixels_t;

typedef window_t loaded_t;

// The element that is read for a place of the tile: places beyond the border get the border's last column or row.
__device__ inline STORED element_of_tile(image_t image, int row, int column) {
  return (STORED)element(image, row, min(column, image.row_elements + CHANNELS - 1));
}

// Reads a work-item's own elements of one row.
__device__ inline void fill_vector(image_t image, int row, int column, STORED *to) {
#if READS_WORDS
  union {
    words_t words;
    STORED at[VECTOR_WIDTH];
  } own;
  bool is_inside = column + VECTOR_WIDTH <= image.row_elements;
#if BORDER_IS_CONSTANT
  is_inside = is_inside && !is_row_outside(image, row);
#endif
  if (is_inside) {
    own.words = load_words(row_to_read(image, row) + column, 0);
#pragma unroll
    for (int i = 0; i < VECTOR_WIDTH; ++i) to[i] = own.at[i];
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) to[i] = element_of_tile(image, row, column + i);
}

// Fills the tile. Every work-item of the group takes part, also one that has no results of its own.
__device__ inline void fill_tile(image_t image, int column, int top, STORED *tile) {
  const int across = threadIdx.x;
  const int down = threadIdx.y;
  const int left = column - across * VECTOR_WIDTH - CHANNELS;
  const int above = top - down * ROWS_PER_ITEM - 1;
  for (int y = down; y < TILE_HEIGHT; y += GROUP_HEIGHT) {
    const int row = min(above + y, image.height);
    STORED *to = tile + y * TILE_WIDTH;
    fill_vector(image, row, column, to + CHANNELS + across * VECTOR_WIDTH);
    for (int i = across; i < 2 * CHANNELS; i += GROUP_WIDTH) {
      const int x = i < CHANNELS ? i : GROUP_WIDTH * VECTOR_WIDTH + i;
      to[x] = element_of_tile(image, row, left + x);
    }
  }
  __syncthreads();
}

__device__ inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  pixels_t pixels;
  pixels.tile = tile;
  pixels.first = CHANNELS + threadIdx.x * VECTOR_WIDTH;
  pixels.top = top - threadIdx.y * ROWS_PER_ITEM - 1;
  return pixels;
}

__device__ inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  STORED *from = pixels.tile + (row - pixels.top) * TILE_WIDTH;
  loaded_t loaded;
#pragma unroll
  for (int i = 0; i < WINDOW; ++i) loaded.at[i] = from[column_of(pixels.first, i)];
  return loaded;
}

__device__ inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  return loaded;
}

__device__ inline VECTOR_OF(VALUE) neighbour_at(pixels_t pixels, int row, int along PIXELS_PARAMETERS) {
  STORED *from = pixels.tile + (row - pixels.top) * TILE_WIDTH + pixels.first + along * CHANNELS;
  values_t values;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) values.at[i] = from[i];
  return values.vector;
}
