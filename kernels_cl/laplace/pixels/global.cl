// Each work-item reads from global memory whatever it needs, as border_code says.

#define PIXELS_LOCALS
#define SOURCE __global const STORED *restrict
#define MEMORY_OF(source) source
#define PIXELS_PARAMETERS
#define PIXELS_ARGUMENTS
#define SHARE_PIXELS(image, column, top)
#define ROW_END_DIFFERS (LAST_ITEM_DIFFERS || ITEMS_TOGETHER > 1)

typedef struct {
  image_t image;
  columns_t columns;
} pixels_t;

typedef row_t loaded_t;

inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  pixels_t pixels;
  pixels.image = image;
  pixels.columns = columns_of_item(image, column, own);
  return pixels;
}

inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  return load_row(pixels.image, pixels.columns, row);
}

inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  return window_of(pixels.image, pixels.columns, row, loaded);
}

inline VECTOR_OF(VALUE) neighbour_at(pixels_t pixels, int row, int along PIXELS_PARAMETERS) {
  values_t values;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) {
    values.at[i] = element(pixels.image, row, pixels.columns.column + i + along * CHANNELS);
  }
  return values.vector;
}
