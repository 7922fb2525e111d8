// The 3x3 Laplace filter: a work-item goes down ROWS_PER_ITEM rows and reads each row once, for all three rows of
// results that it contributes to. It uses, of the files before it:
//   image_t             a source with its height, row length and pitch (window)
//   columns_t, columns_of_item   which columns a work-item reads (border_code/)
//   row_t, load_row     one row as loaded; a row outside the image is replaced (border_code/, by border/)
//   window_t, window_of   a loaded row as values: the item's own elements and both neighbours (border_code/)
//   neighbours_t, neighbours_of   a window as three vectors: left, own and right (window)
//   LAST_ITEM_DIFFERS   whether the last item of a row is compiled separately (border_code/)

// NVIDIA's GPUs have an instruction that saturates two results and packs them beside two others.
#define PACKS (SATURATES && COMPUTE_CAPABILITY >= 72 && VECTOR_BYTES >= 4)

typedef union {
  words_t words;
  VECTOR_OF(STORED) vector;
#if PACKS
  uint packed[VECTOR_BYTES / 4];
#endif
} results_t;

#if SATURATES
#define SATURATED(value) max(min(value, SPLAT(VALUE, HIGHEST)), SPLAT(VALUE, LOWEST))
#else
#define SATURATED(value) (value)
#endif

// Sums as results: saturated where they exceed the stored type.
inline results_t results_of(VECTOR_OF(VALUE) sums) {
  results_t results;
#if PACKS
  values_t values;
  values.vector = sums;
#pragma unroll
  for (int i = 0; i < VECTOR_BYTES / 4; ++i) {
    uint word;
#if HIGHEST == 255
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(word) : "r"(values.at[4 * i + 3]), "r"(values.at[4 * i + 2]));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %0;" : "+r"(word) : "r"(values.at[4 * i + 1]), "r"(values.at[4 * i]));
#elif HIGHEST == 65535
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(word) : "r"(values.at[2 * i + 1]), "r"(values.at[2 * i]));
#elif HIGHEST == 32767
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(word) : "r"(values.at[2 * i + 1]), "r"(values.at[2 * i]));
#else
#error "results of this type cannot be packed"
#endif
    results.packed[i] = word;
  }
#else
  EACH_COMPONENT COMPONENT(results.vector) = CONVERT(STORED, SATURATED(COMPONENT(sums)));
#endif
  return results;
}

// What a row adds to the results above and below it. A weight of 0 leaves its pixels out: 0 times an infinite pixel is
// NaN.
inline VECTOR_OF(VALUE) outer_terms(neighbours_t row) {
  VECTOR_OF(VALUE) sum;
#if EDGE == 0
  EACH_COMPONENT COMPONENT(sum) = CORNER * (COMPONENT(row.left.vector) + COMPONENT(row.right.vector));
#elif CORNER == 0
  EACH_COMPONENT COMPONENT(sum) = EDGE * COMPONENT(row.own.vector);
#else
  EACH_COMPONENT COMPONENT(sum) =
      EDGE * COMPONENT(row.own.vector) + CORNER * (COMPONENT(row.left.vector) + COMPONENT(row.right.vector));
#endif
  return sum;
}

// What a row adds to the results of its own row.
inline VECTOR_OF(VALUE) inner_terms(neighbours_t row) {
  VECTOR_OF(VALUE) sum;
#if EDGE == 0
  EACH_COMPONENT COMPONENT(sum) = CENTRE * COMPONENT(row.own.vector);
#else
  EACH_COMPONENT COMPONENT(sum) =
      CENTRE * COMPONENT(row.own.vector) + EDGE * (COMPONENT(row.left.vector) + COMPONENT(row.right.vector));
#endif
  return sum;
}

// Filters ROWS_PER_ITEM rows from `top` on, `own` elements of them from `column` on.
inline void filter_rows(image_t image, __global STORED *results, int column, int own, int top) {
  const columns_t columns = columns_of_item(image, column, own);
  // Every load is issued before the first use: the two rows above the first step's, and those of the first step.
  int row = top;
  const row_t first = load_row(image, columns, row - 1);
  const row_t second = load_row(image, columns, row);
  row_t loaded[LOADS_IN_FLIGHT];
#pragma unroll
  for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = load_row(image, columns, row + 1 + k);

  // `pending` is the next result without the row below it, `above` what that row's upper neighbour adds.
  VECTOR_OF(VALUE) pending = outer_terms(neighbours_of(window_of(image, columns, row - 1, first)));
  neighbours_t neighbours = neighbours_of(window_of(image, columns, row, second));
  VECTOR_OF(VALUE) above = outer_terms(neighbours);
  VECTOR_OF(VALUE) inner = inner_terms(neighbours);
  EACH_COMPONENT COMPONENT(pending) += COMPONENT(inner);

#pragma unroll 1
  for (int done = 0; done < ROWS_PER_ITEM; done += LOADS_IN_FLIGHT) {
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k, ++row) {
      neighbours = neighbours_of(window_of(image, columns, row + 1, loaded[k]));
      const VECTOR_OF(VALUE) outer = outer_terms(neighbours);
      inner = inner_terms(neighbours);
      EACH_COMPONENT COMPONENT(pending) += COMPONENT(outer);
      const results_t result = results_of(pending);
      EACH_COMPONENT COMPONENT(pending) = COMPONENT(above) + COMPONENT(inner);
      above = outer;
      if (row < image.height) store_words(results + (ulong)row * image.pitch + column, 0, result.words);
    }
    if (done + LOADS_IN_FLIGHT >= ROWS_PER_ITEM || row >= image.height) return;
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = load_row(image, columns, row + 1 + k);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void laplace(__global const STORED *restrict source, __global STORED *restrict results, const uint height,
             const uint row_elements, const uint pitch) {
  const uint column = (get_group_id(0) * GROUP_WIDTH + get_local_id(0)) * VECTOR_WIDTH;
  const uint top = (get_group_id(1) * GROUP_HEIGHT + get_local_id(1)) * ROWS_PER_ITEM;
  if (column >= row_elements || top >= height) return;
  image_t image;
  image.source = source;
  image.height = height;
  image.row_elements = row_elements;
  image.pitch = pitch;
#if LAST_ITEM_DIFFERS
  // filter_rows is compiled twice: only the last item of a row, where the row ends inside its vector, handles a border
  // inside the vector.
  if (column + VECTOR_WIDTH > row_elements) {
    filter_rows(image, results, column, row_elements - column, top);
    return;
  }
#endif
  filter_rows(image, results, column, VECTOR_WIDTH, top);
}
