// Borders are peeled off: a work-item whose neighbours all lie in their row loads these as two more vectors, which
// overlap its own elements. Only the first and the last item of a row look for neighbours as `mapped` does.

#if VECTOR_WIDTH < CHANNELS
#error "an item's own elements must hold a pixel"
#endif

#define LAST_ITEM_DIFFERS 0
#define READS_WORDS 1
#define UNPACKS 0

typedef union {
  words_t words;
  VECTOR_OF(STORED) vector;
  STORED at[VECTOR_WIDTH];
} elements_t;

// The item's own elements of a row, and their left and right neighbours.
typedef struct {
  elements_t left, own, right;
} row_t;

// differs: PoCL's compiler would leave calls between here and the kernel, which hand a row over in memory.
#if defined(__clang__) && defined(__OPTIMIZE__)
#pragma clang diagnostic ignored "-Wkeyword-macro"
#undef inline
#define inline inline __attribute__((always_inline))
#endif
// end differs

// What an item sees of a row are these vectors, not an array.
#define window_t row_t

inline neighbours_t neighbours_of_elements(row_t row) {
  neighbours_t neighbours;
  EACH_COMPONENT COMPONENT(neighbours.left.vector) = CONVERT(VALUE, COMPONENT(row.left.vector));
  EACH_COMPONENT COMPONENT(neighbours.own.vector) = CONVERT(VALUE, COMPONENT(row.own.vector));
  EACH_COMPONENT COMPONENT(neighbours.right.vector) = CONVERT(VALUE, COMPONENT(row.right.vector));
  return neighbours;
}
#define neighbours_of neighbours_of_elements

// left, right: where the nearest neighbours outside the item's own elements begin, which are `own`.
typedef struct {
  int column, own;
  bool is_at_row_end;
  int left[CHANNELS], right[CHANNELS];
} columns_t;

inline columns_t columns_of_item(image_t image, int column, int own) {
  columns_t columns;
  columns.column = column;
  columns.own = min(image.row_elements - column, VECTOR_WIDTH);
  columns.is_at_row_end =
      !IS_INTERIOR(image) && (column < CHANNELS || column + VECTOR_WIDTH + CHANNELS > image.row_elements);
#pragma unroll
  for (int i = 0; i < CHANNELS; ++i) {
    columns.left[i] = column_inside(image, column - CHANNELS + i);
    columns.right[i] = column_inside(image, column + columns.own + i);
  }
  return columns;
}

inline VALUE element(image_t image, int row, int column) {
  return selected_element(image, row, column);
}

inline __global const STORED *row_to_read(image_t image, int row) {
  return row_start(image, row_inside(image, row));
}

// differs: OpenCL C loads a vector from any element on; CUDA C++ has the neighbours that are the item's own already.
#if VECTOR_WIDTH == 1
#define LOAD_UNALIGNED(space, from) (*(space const STORED *)(from))
#elif defined(__clang__)
// PoCL's vloadn loads single elements.
typedef VECTOR_OF(STORED) unaligned_t __attribute__((aligned(VECTOR_BYTES / VECTOR_WIDTH)));
#define LOAD_UNALIGNED(space, from) (*(space const unaligned_t *)(from))
#else
#define LOAD_UNALIGNED(space, from) JOIN(vload, VECTOR_WIDTH)(0, (space const STORED *)(from))
#endif
inline void load_neighbours(__global const STORED *from, row_t *row) {
  row->left.vector = LOAD_UNALIGNED(__global, from - CHANNELS);
  row->right.vector = LOAD_UNALIGNED(__global, from + CHANNELS);
}

inline void neighbours_in(const STORED *elements, row_t *row) {
  row->left.vector = LOAD_UNALIGNED(__private, elements);
  row->right.vector = LOAD_UNALIGNED(__private, elements + 2 * CHANNELS);
}
// end differs

inline row_t load_row(image_t image, columns_t columns, int row) {
  __global const STORED *start = row_to_read(image, row);
  row_t loaded;
  loaded.own.words = load_words(start + columns.column, 0);
  if (!columns.is_at_row_end) {
    load_neighbours(start + columns.column, &loaded);
    return loaded;
  }
  STORED elements[VECTOR_WIDTH + 2 * CHANNELS];
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) elements[CHANNELS + i] = loaded.own.at[i];
#pragma unroll
  for (int i = 0; i < CHANNELS; ++i) elements[CHANNELS + VECTOR_WIDTH + i] = 0;
#pragma unroll
  for (int i = 0; i < CHANNELS; ++i) {
    elements[i] = LOAD_AS(STORED, start + columns.left[i]);
    elements[CHANNELS + columns.own + i] = LOAD_AS(STORED, start + columns.right[i]);
#if BORDER_IS_CONSTANT
    if (columns.column == 0) elements[i] = BORDER_VALUE;
    if (columns.column + columns.own + i >= image.row_elements) elements[CHANNELS + columns.own + i] = BORDER_VALUE;
#endif
  }
  neighbours_in(elements, &loaded);
  return loaded;
}

inline row_t window_of(image_t image, columns_t columns, int row, row_t loaded) {
#if BORDER_IS_CONSTANT
  if (is_row_outside(image, row)) {
    // As vectors: element by element PoCL's compiler would take every row apart.
    EACH_COMPONENT COMPONENT(loaded.left.vector) = SPLAT(STORED, BORDER_VALUE);
    EACH_COMPONENT COMPONENT(loaded.own.vector) = SPLAT(STORED, BORDER_VALUE);
    EACH_COMPONENT COMPONENT(loaded.right.vector) = SPLAT(STORED, BORDER_VALUE);
  }
#endif
  return loaded;
}
