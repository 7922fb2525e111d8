// jia2012, no branches by padding: a kernel before the filter copies the image into one with a border, so that the
// filter reads without a test. Rows begin with PADDING elements, of which the last CHANNELS are the border's, and as
// many follow them.

#define LAST_ITEM_DIFFERS 0
#define READS_WORDS 1
#define UNPACKS 0

typedef struct {
  int column;
} columns_t;

typedef struct {
  words_t own;
  STORED left[HALO], right[HALO];
} row_t;

inline columns_t columns_of_item(image_t image, int column, int own) {
  columns_t columns;
  columns.column = column;
  return columns;
}

inline ulong padded_row(image_t image, int row) {
  return (ulong)(uint)(row + 1) * (image.pitch + 2 * PADDING) + PADDING;
}

// A row of the padded image. Items at the bottom ask for rows below the border.
inline __global const STORED *row_to_read(image_t image, int row) {
  return image.source + padded_row(image, min(row, image.height));
}

inline VALUE element(image_t image, int row, int column) {
  return LOAD_AS(STORED, row_to_read(image, row) + column);
}

inline row_t load_row(image_t image, columns_t columns, int row) {
  __global const STORED *start = row_to_read(image, row);
  row_t loaded;
  loaded.own = load_words(start + columns.column, 0);
#pragma unroll
  for (int i = 0; i < HALO; ++i) {
    loaded.left[i] = LOAD_AS(STORED, start + column_of(columns.column, i));
    loaded.right[i] = LOAD_AS(STORED, start + column_of(columns.column, HALO + VECTOR_WIDTH + i));
  }
  return loaded;
}

inline window_t window_of(image_t image, columns_t columns, int row, row_t loaded) {
  union {
    words_t words;
    STORED at[VECTOR_WIDTH];
  } own;
  own.words = loaded.own;
  window_t window;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) window.at[HALO + i] = own.at[i];
#pragma unroll
  for (int i = 0; i < HALO; ++i) {
    window.at[i] = loaded.left[i];
    window.at[HALO + VECTOR_WIDTH + i] = loaded.right[i];
  }
  return window;
}

// The kernel before the filter, in the same groups. The first and the last item of a row add the border; the last one
// also fills what vectors reach behind it.
__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void pad(__global const STORED *restrict source, __global STORED *restrict padded, const uint height,
         const uint row_elements, const uint pitch) {
  const uint column = (get_group_id(0) * GROUP_WIDTH + get_local_id(0)) * VECTOR_WIDTH;
  if (column >= row_elements) return;
  const image_t image = image_of(source, height, row_elements, pitch);
  const int step = get_num_groups(1) * GROUP_HEIGHT;
  for (int row = (int)(get_group_id(1) * GROUP_HEIGHT + get_local_id(1)) - 1; row <= image.height; row += step) {
    __global STORED *to = padded + padded_row(image, row);
    if (BORDER_IS_CONSTANT && is_row_outside(image, row)) {
      for (int i = 0; i < VECTOR_WIDTH; ++i) to[column + i] = BORDER_VALUE;
    } else {
      store_words(to + column, 0, load_words(row_start(image, row_inside(image, row)) + column, 0));
    }
    if (column == 0) {
      for (int i = -CHANNELS; i < 0; ++i) to[i] = selected_element(image, row, i);
    }
    if (column + VECTOR_WIDTH >= row_elements) {
      const int border_end = row_elements + CHANNELS;
      for (int i = row_elements; i < border_end; ++i) to[i] = selected_element(image, row, i);
      for (int i = border_end; i < (int)column + VECTOR_WIDTH + CHANNELS; ++i) to[i] = 0;
    }
  }
}
