// A work-item reads its own elements of a row as in `global`, and the four elements before and the four behind them,
// each by one load: the nearest are its neighbours. Three channels take two loads so where single elements take six.
// The items at the ends of a row read their neighbours one by one.

#define PIXELS_LOCALS
#define SOURCE __global const STORED *restrict
#define MEMORY_OF(source) source
#define PIXELS_PARAMETERS
#define PIXELS_ARGUMENTS
#define SHARE_PIXELS(image, column, top)
#define ROW_END_DIFFERS LAST_ITEM_DIFFERS
#define ITEMS_TOGETHER 1

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

// before, behind: where the four elements on either side begin; of an item at an end of its row, some place in it.
typedef struct {
  image_t image;
  columns_t columns;
  int before, behind;
  bool is_at_row_end;
} pixels_t;

typedef struct {
  own_t own;
  four_elements_t before, behind;
} loaded_t;

inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  const int end = right_column(column, own);
  pixels_t pixels;
  pixels.image = image;
  pixels.columns = columns_of_item(image, column, own);
  pixels.is_at_row_end = column == 0 || end + CHANNELS > image.row_elements;
  pixels.before = pixels.is_at_row_end ? column : column - 4;
  pixels.behind = pixels.is_at_row_end ? column : column + VECTOR_WIDTH;
  return pixels;
}

// Reads neighbours that begin at these columns, as the elements of four from `place` on.
inline four_elements_t neighbours_as_four(__global const STORED *start, const int *columns, int place) {
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
inline STORED element_of(four_elements_t four, int i) {
  const int first_bit = i * BITS_EACH;
  union {
    bits_t bits;
    STORED element;
  } found;
  found.bits = four.word[first_bit / 32] >> first_bit % 32;
  return found.element;
}

inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  __global const STORED *start = row_to_read(pixels.image, row);
  loaded_t loaded;
  loaded.own.words = load_words(start + pixels.columns.column, 0);
  loaded.before.load = LOAD_AS(four_t, start + pixels.before);
  loaded.behind.load = LOAD_AS(four_t, start + pixels.behind);
  if (pixels.is_at_row_end) {
    loaded.before = neighbours_as_four(start, pixels.columns.left, 4 - CHANNELS);
    loaded.behind = neighbours_as_four(start, pixels.columns.right, 0);
  }
  return loaded;
}

inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  row_t elements;
  elements.own = loaded.own;
#pragma unroll
  for (int i = 0; i < CHANNELS; ++i) {
    elements.left.at[i] = element_of(loaded.before, 4 - CHANNELS + i);
    elements.right.at[i] = element_of(loaded.behind, i);
  }
  return window_of(pixels.image, pixels.columns, row, elements);
}
