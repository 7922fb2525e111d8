// A group's tile in local memory: its results' elements, a vector more on each side and a row above and below, each
// where the vectors of the image begin. Work-items take their own elements of a row from there, and the four on either
// side of them. A row of the tile is that of the image or, outside, the one that the border reads in its place.

#define TILE_VECTORS (GROUP_WIDTH + 2)
#define TILE_HEIGHT (GROUP_HEIGHT * ROWS_PER_ITEM + 2)

// For PTX.
// differs: in OpenCL a pointer to local memory is an address in it, in CUDA it is converted to one.
#define LOCAL_ADDRESS(pointer) ((uint)(ulong)(pointer))
// end differs

// own: where the item's own elements lie in the first row of the tile. above: that row in the image.
typedef struct {
  four_columns_t columns;
  int own, above;
} tile_pixels_t;

// The row of the image that is the tile's first, of an item whose own begin at `top`.
inline int first_row_of_tile(int top) {
  return top - (int)get_local_id(1) * ROWS_PER_ITEM - 1;
}

inline tile_pixels_t tile_pixels_of_item(image_t image, int column, int own, int top) {
  tile_pixels_t pixels;
  pixels.columns = four_columns_of_item(image, column, own);
  pixels.own = 1 + get_local_id(0);
  pixels.above = first_row_of_tile(top);
  return pixels;
}

// What is read for a row of a tile. Rows that no result needs are any row.
inline __global const STORED *row_for_tile(image_t image, int row) {
  return row_to_read(image, min(row, image.height));
}

inline fours_t fours_in_tile(tile_pixels_t pixels, int row, __local words_t *tile) {
  __local words_t *own = tile + (row - pixels.above) * TILE_VECTORS + pixels.own;
  fours_t fours;
  fours.own.words = *own;
  if (pixels.columns.is_at_row_end) {
    neighbours_at_row_end(pixels.columns, row_for_tile(pixels.columns.image, row), &fours);
  } else {
    fours.before.load = *(__local four_t *)((__local STORED *)own - 4);
    fours.behind.load = *(__local four_t *)(own + 1);
  }
  return fours;
}
