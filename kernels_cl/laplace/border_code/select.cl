// jia2012, no branches: each element is read by itself, from an address selected by ?: before.

#define LAST_ITEM_DIFFERS 0
#define READS_WORDS 0
#define UNPACKS 0

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
  return selected_element(image, row, column);
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
