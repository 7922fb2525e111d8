// What a work-item sees of one row: its VECTOR_WIDTH elements and the pixels to the left and right of them.

// Elements on each side that are not the item's own. A neighbour is CHANNELS elements away, so narrow items need
// no more than their own width.
#define HALO (VECTOR_WIDTH < CHANNELS ? VECTOR_WIDTH : CHANNELS)

// The elements at HALO + i are the item's own; i and 2 * HALO + i are their neighbours.
#define WINDOW (VECTOR_WIDTH + 2 * HALO)
typedef struct {
  VALUE at[WINDOW];
} window_t;

// Rows of `pitch` elements, of which `row_elements` are pixels. Columns count elements.
// is_interior: nothing that is read lies outside. A constant, so that the compiler drops what handles the border.
typedef struct {
  const STORED *source;
  int height, row_elements;
  uint pitch;
#if INTERIOR_DIFFERS
  bool is_interior;
#endif
} image_t;

__device__ inline image_t image_of(const STORED *source, uint height, uint row_elements, uint pitch) {
  image_t image;
  image.source = source;
  image.height = height;
  image.row_elements = row_elements;
  image.pitch = pitch;
#if INTERIOR_DIFFERS
  image.is_interior = false;
#endif
  return image;
}

// Where element i of a window lies in its row, for an item whose own elements start at `column`.
__device__ inline int column_of(int column, int i) {
  if (i < HALO) return column + i - CHANNELS;
  return i < HALO + VECTOR_WIDTH ? column + i - HALO : column + i - 2 * HALO + CHANNELS;
}

// The row that is read for `row`, which may lie outside.
__device__ inline int row_inside(image_t image, int row) {
  if (IS_INTERIOR(image)) return row;
  const int inside = row < image.height ? row : after_last(image.height);
  return row < 0 ? before_first(image.height) : inside;
}

// The column that is read for `column`, which may lie one pixel outside.
__device__ inline int column_inside(image_t image, int column) {
  if (IS_INTERIOR(image)) return column;
  const int width = image.row_elements / CHANNELS;
  const int after = after_last(width) * CHANNELS + column - image.row_elements;
  const int inside = column < image.row_elements ? column : after;
  return column < 0 ? before_first(width) * CHANNELS + CHANNELS + column : inside;
}

typedef union {
  VECTOR_OF(VALUE) vector;
  VALUE at[VECTOR_WIDTH];
} values_t;

// A window as three vectors of the item's width: its own elements and their left and right neighbours.
typedef struct {
  values_t left, own, right;
} neighbours_t;

__device__ inline neighbours_t neighbours_of(window_t window) {
  neighbours_t neighbours;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) {
    neighbours.left.at[i] = window.at[i];
    neighbours.own.at[i] = window.at[HALO + i];
    neighbours.right.at[i] = window.at[2 * HALO + i];
  }
  return neighbours;
}

__device__ inline bool is_row_outside(image_t image, int row) {
  return !IS_INTERIOR(image) && (row < 0 || row >= image.height);
}

__device__ inline bool is_column_outside(image_t image, int column) {
  return !IS_INTERIOR(image) && (column < 0 || column >= image.row_elements);
}

// Whether a row of results is one of the image's.
__device__ inline bool has_row(image_t image, int row) {
  return IS_INTERIOR(image) || row < image.height;
}

__device__ inline const STORED *row_start(image_t image, int row) {
  return image.source + (ulong)(uint)row * image.pitch;
}

// One element, which may be of a pixel outside, from an address selected by ?: before.
__device__ inline VALUE selected_element(image_t image, int row, int column) {
  const VALUE inside = LOAD_AS(STORED, row_start(image, row_inside(image, row)) + column_inside(image, column));
#if BORDER_IS_CONSTANT
  return (is_row_outside(image, row) | is_column_outside(image, column)) ? BORDER_VALUE : inside;
#else
  return inside;
#endif
}
