// jia2012, basic form: each element is read by itself, and each read tests by if and else whether it lies outside.

#define LAST_ITEM_DIFFERS 0
#define READS_WORDS 0
#define UNPACKS 0

typedef struct {
  int column;
} columns_t;

typedef window_t row_t;

__device__ inline columns_t columns_of_item(image_t image, int column, int own) {
  columns_t columns;
  columns.column = column;
  return columns;
}

__device__ inline VALUE element(image_t image, int row, int column) {
#if BORDER_IS_CONSTANT
  if (is_row_outside(image, row) || is_column_outside(image, column)) return BORDER_VALUE;
#endif
  if (IS_INTERIOR(image)) return LOAD_AS(STORED, row_start(image, row) + column);
  const int width = image.row_elements / CHANNELS;
  if (row < 0) {
    row = before_first(image.height);
  } else if (row >= image.height) {
    row = after_last(image.height);
  }
  if (column < 0) {
    column += before_first(width) * CHANNELS + CHANNELS;
  } else if (column >= image.row_elements) {
    column += after_last(width) * CHANNELS - image.row_elements;
  }
  return LOAD_AS(STORED, row_start(image, row) + column);
}

__device__ inline row_t load_row(image_t image, columns_t columns, int row) {
  row_t loaded;
#pragma unroll
  for (int i = 0; i < WINDOW; ++i) loaded.at[i] = element(image, row, column_of(columns.column, i));
  return loaded;
}

__device__ inline window_t window_of(image_t image, columns_t columns, int row, row_t loaded) {
  return loaded;
}
