// A work-item's own elements of a row, the four elements before them and the four behind them: the nearest are its
// neighbours. The items at the ends of a row read their neighbours one by one.

// Elements as integers, and four of them.
#if VECTOR_BYTES == VECTOR_WIDTH
typedef uchar bits_t;
typedef uint four_t;
#elif VECTOR_BYTES == 2 * VECTOR_WIDTH
typedef ushort bits_t;
typedef uint2 four_t;
#else
typedef uint bits_t;
typedef uint4 four_t;
#endif
#define BITS_EACH (8 * VECTOR_BYTES / VECTOR_WIDTH)
#define FOUR_WORDS (4 * BITS_EACH / 32)

// As words: taken apart into elements, they would be waited for before the next row is loaded.
typedef union {
  four_t load;
  uint word[FOUR_WORDS];
} four_elements_t;

typedef struct {
  own_t own;
  four_elements_t before, behind;
} fours_t;

// before, behind: where the four elements on either side begin; of an item at an end of its row, some place in it.
typedef struct {
  image_t image;
  columns_t columns;
  int before, behind;
  bool is_at_row_end;
} four_columns_t;

__device__ inline four_columns_t four_columns_of_item(image_t image, int column, int own) {
  four_columns_t columns;
  columns.image = image;
  columns.columns = columns_of_item(image, column, own);
  column = columns.columns.column;
  const int end = right_column(column, columns.columns.own);
  columns.is_at_row_end = !IS_INTERIOR(image) && (column == 0 || end + CHANNELS > image.row_elements);
  columns.before = columns.is_at_row_end ? column : column - 4;
  columns.behind = columns.is_at_row_end ? column : column + VECTOR_WIDTH;
  return columns;
}

// Reads neighbours that begin at these columns, as the elements of four from `place` on.
__device__ inline four_elements_t neighbours_as_four(const STORED *start, const int *columns, int place) {
  four_elements_t four;
#pragma unroll
  for (int i = 0; i < FOUR_WORDS; ++i) four.word[i] = 0;
#pragma unroll
  for (int i = 0; i < CHANNELS; ++i) {
    const int column = HALO_LOADS == 1 ? columns[0] + i : columns[i % HALO_LOADS];
    const int first_bit = (place + i) * BITS_EACH;
    four.word[first_bit / 32] |= (uint)LOAD_AS(bits_t, start + column) << first_bit % 32;
  }
  return four;
}

// Element i of four.
__device__ inline STORED element_of(four_elements_t four, int i) {
  const int first_bit = i * BITS_EACH;
  union {
    bits_t bits;
    STORED element;
  } found;
  found.bits = four.word[first_bit / 32] >> first_bit % 32;
  return found.element;
}

// Puts the neighbours of an item at an end of its row into the places of the four elements.
__device__ inline void neighbours_at_row_end(four_columns_t columns, const STORED *start, fours_t *fours) {
  fours->before = neighbours_as_four(start, columns.columns.left, 4 - CHANNELS);
  fours->behind = neighbours_as_four(start, columns.columns.right, 0);
}

__device__ inline window_t window_of_fours(four_columns_t columns, int row, fours_t fours) {
  row_t elements;
  elements.own = fours.own;
#pragma unroll
  for (int i = 0; i < CHANNELS; ++i) {
    elements.left.at[i] = element_of(fours.before, 4 - CHANNELS + i);
    elements.right.at[i] = element_of(fours.behind, i);
  }
  return window_of(columns.image, columns.columns, row, elements);
}
