// jia2012, no branches: each element is read by itself, from an address selected by ?: before.

#define LAST_ITEM_DIFFERS 0

typedef struct {
  int column;
} columns_t;

typedef window_t row_t;

inline columns_t columns_of_item(image_t image, int column, int own) {
  columns_t columns;
  columns.column = column;
  return columns;
}

inline VALUE element(image_t image, int row, int column) {
  const VALUE inside = LOAD_AS(STORED, row_start(image, row_inside(image, row)) + column_inside(image, column));
#if BORDER_IS_CONSTANT
  return (is_outside(row, image.height) | is_outside(column, image.row_elements)) ? BORDER_VALUE : inside;
#else
  return inside;
#endif
}

inline row_t load_row(image_t image, columns_t columns, int row) {
  row_t loaded;
#pragma unroll
  for (int i = 0; i < WINDOW; ++i) loaded.at[i] = element(image, row, column_of(columns.column, i));
  return loaded;
}

inline window_t window_of(image_t image, columns_t columns, int row, row_t loaded) {
  return loaded;
}
