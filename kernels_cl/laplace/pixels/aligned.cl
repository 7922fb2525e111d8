// A work-item reads its own elements of a row as in `global`, and the four elements before and the four behind them,
// each by one load: the nearest are its neighbours. Three channels take two loads so where single elements take six.

#define PIXELS_LOCALS
#define SOURCE __global const STORED *restrict
#define MEMORY_OF(source) source
#define PIXELS_PARAMETERS
#define PIXELS_ARGUMENTS
#define SHARE_PIXELS(image, column, top)
#define ROW_END_DIFFERS (LAST_ITEM_DIFFERS || ITEMS_TOGETHER > 1)

typedef four_columns_t pixels_t;

typedef fours_t loaded_t;

inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  return four_columns_of_item(image, column, own);
}

inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  __global const STORED *start = row_to_read(pixels.image, row);
  loaded_t loaded;
  loaded.own.words = load_words(start + pixels.columns.column, 0);
  loaded.before.load = LOAD_AS(four_t, start + pixels.before);
  loaded.behind.load = LOAD_AS(four_t, start + pixels.behind);
  if (pixels.is_at_row_end) neighbours_at_row_end(pixels, start, &loaded);
  return loaded;
}

inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  return window_of_fours(pixels, row, loaded);
}
