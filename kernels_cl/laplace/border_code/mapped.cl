// Addresses at the border are computed once: a row's when it is loaded, the neighbours' columns when the item starts.
// The item's own elements are one wide load.

// Neighbours that are whole pixels are read by one load, others element by element. HALO_LOAD is the type of one load.
#define HALO_LOADS (VECTOR_WIDTH % CHANNELS == 0 ? 1 : HALO)

// Whether a row may end inside the last item's vector, so that the right neighbours lie in the vector, too.
#define LAST_ITEM_DIFFERS (VECTOR_WIDTH > CHANNELS)
#define READS_WORDS 1

// NVIDIA's GPUs extract an element of a word, with its sign, by one instruction; compilers generate more.
// differs: portable OpenCL C extracts by shifts: NVIDIA's compiler would split the load of a vector of narrow elements.
#define UNPACKS (SATURATES && (COMPUTE_CAPABILITY > 0 || IS_PORTABLE) && VECTOR_BYTES >= 4)
// end differs
#define HALO_BYTES (HALO * (VECTOR_BYTES / VECTOR_WIDTH))
#define UNPACKS_HALO (UNPACKS && HALO_BYTES % 4 == 0)

typedef union {
  HALO_LOAD load[HALO_LOADS];
  STORED at[HALO];
#if UNPACKS_HALO
  uint packed[HALO_BYTES / 4];
#endif
} halo_t;

typedef union {
  words_t words;
  VECTOR_OF(STORED) vector;
#if UNPACKS || KEEPS_WORDS
  uint packed[VECTOR_BYTES / 4];
#endif
} own_t;

typedef struct {
  own_t own;
  halo_t left, right;
} row_t;

// own: how many elements of the item's vector are pixels; all of them but in the last item of a row.
typedef struct {
  int column, own;
  int left[HALO_LOADS], right[HALO_LOADS];
} columns_t;

// The column of the first right neighbour.
inline int right_column(int column, int own) {
  return column + (LAST_ITEM_DIFFERS ? own : CHANNELS);
}

// own: elements of the row from `column` on. Where items go together, one that has none takes part as if it was the
// first of its row, and one may have more than its vector.
inline columns_t columns_of_item(image_t image, int column, int own) {
#if ITEMS_TOGETHER > 1
  if (own <= 0) {
    column = 0;
    own = image.row_elements;
  }
  own = min(own, VECTOR_WIDTH);
#endif
  columns_t columns;
  columns.column = column;
  columns.own = own;
#pragma unroll
  for (int i = 0; i < HALO_LOADS; ++i) {
    columns.left[i] = column_inside(image, column - CHANNELS + i);
    columns.right[i] = column_inside(image, right_column(column, own) + i);
  }
  return columns;
}

inline VALUE element(image_t image, int row, int column) {
  return selected_element(image, row, column);
}

inline __global const STORED *row_to_read(image_t image, int row) {
  return row_start(image, row_inside(image, row));
}

inline row_t load_row(image_t image, columns_t columns, int row) {
  // Not by row_to_read: NVIDIA's compiler of CUDA then orders the loads otherwise.
  __global const STORED *start = row_start(image, row_inside(image, row));
  row_t loaded;
  loaded.own.words = load_words(start + columns.column, 0);
#pragma unroll
  for (int i = 0; i < HALO_LOADS; ++i) {
    loaded.left.load[i] = LOAD_AS(HALO_LOAD, start + columns.left[i]);
    loaded.right.load[i] = LOAD_AS(HALO_LOAD, start + columns.right[i]);
  }
  return loaded;
}

#if KEEPS_WORDS
#define OWN_WORDS (VECTOR_BYTES / 4)
// A window as words of bytes: the left neighbours end the first word, the right ones begin where the own elements end.
typedef struct {
  uint word[OWN_WORDS + 2];
} words_window_t;
#define window_t words_window_t

inline window_t window_of(image_t image, columns_t columns, int row, row_t loaded) {
  uint left = 0, right = 0;
#pragma unroll
  for (int i = 0; i < CHANNELS; ++i) {
    uint before = loaded.left.at[i], behind = loaded.right.at[i];
#if BORDER_IS_CONSTANT
    // Of whole pixels all elements are inside, or none is.
    const int nearest = HALO_LOADS == 1 ? 0 : i;
    const bool may_be_outside = !IS_INTERIOR(image);
    if (may_be_outside && columns.column + nearest < CHANNELS) before = BORDER_VALUE;
    if (may_be_outside && right_column(columns.column, columns.own) + nearest >= image.row_elements) {
      behind = BORDER_VALUE;
    }
#endif
    left |= before << 8 * (4 - CHANNELS + i);
    right |= behind << 8 * i;
  }
  window_t window;
  window.word[0] = left;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) window.word[1 + i] = loaded.own.packed[i];
  window.word[1 + OWN_WORDS] = right;
  // In the last item of a row the right neighbours follow its last own pixel.
  if (LAST_ITEM_DIFFERS && columns.own < VECTOR_WIDTH) {
#pragma unroll
    for (int i = 0; i <= OWN_WORDS; ++i) {
      const int bytes = columns.own - 4 * i;
      if (bytes >= 0 && bytes < 4) {
        window.word[1 + i] = (window.word[1 + i] & ((1u << 8 * bytes) - 1)) | right << 8 * bytes;
      } else if (bytes < 0 && bytes > -4) {
        window.word[1 + i] = right >> -8 * bytes;
      }
    }
  }
#if BORDER_IS_CONSTANT
  if (is_row_outside(image, row)) {
#pragma unroll
    for (int i = 0; i < OWN_WORDS + 2; ++i) window.word[i] = BORDER_VALUE * 0x01010101u;
  }
#endif
  return window;
}
#else
// differs: as above.
#if UNPACKS && IS_PORTABLE
#define STORED_BITS (8 * VECTOR_BYTES / VECTOR_WIDTH)
// Element i of those that lie in `packed`.
inline VALUE unpacked(const uint *packed, int i) {
  const int first_bit = i * STORED_BITS;
  const uint in_highest_bits = packed[first_bit / 32] << (32 - STORED_BITS - first_bit % 32);
#if LOWEST < 0
  return (int)in_highest_bits >> (32 - STORED_BITS);
#else
  return in_highest_bits >> (32 - STORED_BITS);
#endif
}
#endif
// end differs

#if UNPACKS && !IS_PORTABLE
// Element i of those that lie in `packed`.
inline VALUE unpacked(const uint *packed, int i) {
  // Each hexadecimal digit selects one byte of the result: 0 to 3 a byte of the word, 4 zero, with 8 added the sign of
  // that byte eight times.
#if HIGHEST == 255
  const uint digits = 0x4440 + i % 4;
#elif HIGHEST == 65535
  const uint digits = i % 2 ? 0x4432 : 0x4410;
#elif HIGHEST == 32767
  const uint digits = i % 2 ? 0xbb32 : 0x9910;
#else
#error "elements of this type cannot be unpacked"
#endif
  VALUE value;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(value) : "r"(packed[i * (VECTOR_BYTES / VECTOR_WIDTH) / 4]), "r"(digits));
  return value;
}
#endif

inline window_t window_of(image_t image, columns_t columns, int row, row_t loaded) {
  window_t window;
#if UNPACKS
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) window.at[HALO + i] = unpacked(loaded.own.packed, i);
#else
  values_t own;
  EACH_COMPONENT COMPONENT(own.vector) = CONVERT(VALUE, COMPONENT(loaded.own.vector));
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) window.at[HALO + i] = own.at[i];
#endif
  const int right = right_column(columns.column, columns.own);
#pragma unroll
  for (int i = 0; i < HALO; ++i) {
#if UNPACKS_HALO
    window.at[i] = unpacked(loaded.left.packed, i);
    window.at[HALO + VECTOR_WIDTH + i] = unpacked(loaded.right.packed, i);
#else
    window.at[i] = loaded.left.at[i];
    window.at[HALO + VECTOR_WIDTH + i] = loaded.right.at[i];
#endif
#if BORDER_IS_CONSTANT
    const bool may_be_outside = !IS_INTERIOR(image);
    if (may_be_outside && columns.column + i < CHANNELS) window.at[i] = BORDER_VALUE;
    if (may_be_outside && right + i >= image.row_elements) window.at[HALO + VECTOR_WIDTH + i] = BORDER_VALUE;
#endif
  }
  // In the last item of a row the right neighbours follow its last own pixel.
  if (LAST_ITEM_DIFFERS && columns.own < VECTOR_WIDTH) {
#pragma unroll
    for (int i = 0; i < VECTOR_WIDTH + HALO; ++i) {
#pragma unroll
      for (int k = 0; k < HALO; ++k) {
        const bool can_meet = HALO_LOADS > 1 || i % CHANNELS == k;
        if (can_meet && columns.own + k == i) window.at[HALO + i] = window.at[HALO + VECTOR_WIDTH + k];
      }
    }
  }
#if BORDER_IS_CONSTANT
  if (is_row_outside(image, row)) {
#pragma unroll
    for (int i = 0; i < WINDOW; ++i) window.at[i] = BORDER_VALUE;
  }
#endif
  return window;
}
#endif
