// By the tensor cores, in whole numbers: the four bytes of a row that two results need, its window, are multiplied by
// the mask's weights, whichever they are. A product is of matrices, computed by a sub-group of 32 together. Each item's
// windows are a part of the first; in the second all weights are 0 but those by which an item's windows give its own
// results. So each item gets what it would have computed alone.

#if !HAS_PTX || COMPUTE_CAPABILITY < 80
#error "products of matrices are written in PTX for sm_80"
#endif
#if !KEEPS_WORDS || ITEMS_TOGETHER != 32
#error "whole sub-groups multiply words of bytes"
#endif

// The two results of a window are a pixel apart: it has the bytes before them, their own and the one behind. Of three
// channels some windows at the end have one result of this item; the other is dropped. A product takes two windows.
#define LAST_RESULTS (VECTOR_WIDTH % (2 * CHANNELS))
#define WINDOWS (VECTOR_WIDTH / (2 * CHANNELS) * CHANNELS + (LAST_RESULTS < CHANNELS ? LAST_RESULTS : CHANNELS))
#define PRODUCTS ((WINDOWS + 1) / 2)

// Whether the neighbours above and below are one pixel each, which go with the row's own window into one product.
#define JOINS_ROWS (CORNER == 0 && CHANNELS != 3)

typedef struct {
  uint window[2 * PRODUCTS];
#if JOINS_ROWS
  // The results' own pixels, of two windows in a word.
  uint own[PRODUCTS];
#endif
} operands_t;

#if JOINS_ROWS
typedef struct {
  uint own[PRODUCTS];
} outer_t;
#else
typedef operands_t outer_t;
#endif

// Products are computed when all three rows are there: they would take more registers than what is multiplied.
typedef struct {
  outer_t above;
  operands_t own;
} sums_t;

// Four bytes of two words: each hexadecimal digit of `digits` selects one.
inline uint picked(uint first, uint second, uint digits) {
  uint word;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(first), "r"(second), "r"(digits));
  return word;
}

// The four bytes of a row that begin at `first` and are a pixel apart. All but `row` is known to the compiler. What is
// picked behind the row's end belongs to a result that is dropped.
inline uint window_from(const uint *row, int first) {
  const int end = 4 * (OWN_WORDS + 2) - 1;
  const int at[4] = {first, first + CHANNELS, first + 2 * CHANNELS, min(first + 3 * CHANNELS, end)};
  const int from = first / 4, last = at[3] / 4;
  if (last <= from + 1) {
    const uint digits = at[3] * 0x1000 + at[2] * 0x100 + at[1] * 0x10 + at[0];
    return picked(row[from], row[last], digits - 4 * from * 0x1111);
  }
  const uint before = picked(row[from], row[at[1] / 4], (4 + at[1] % 4) << 4 | at[0] % 4);
  if (at[2] / 4 == last) return picked(before, row[last], (4 + at[3] % 4) << 12 | (4 + at[2] % 4) << 8 | 0x10);
  return picked(before, picked(row[at[2] / 4], row[last], (4 + at[3] % 4) << 4 | at[2] % 4), 0x5410);
}

inline operands_t operands_of(window_t row) {
  operands_t operands;
#if CHANNELS == 4
  // A word is a pixel. The bytes of two channels, of a window's own two pixels or of those beside them, make a word.
#pragma unroll
  for (int i = 0; i < WINDOWS / 2; ++i) {
    const uint digits = i % 2 ? 0x7362 : 0x5140;
    const uint *from = row.word + i / 2 * 2;
    // An item of one pixel has no third: the second results of its windows are dropped.
    const uint own = picked(from[1], from[2], digits), beside = picked(from[0], from[OWN_WORDS > 1 ? 3 : 2], digits);
    operands.window[2 * i] = picked(beside, own, 0x1540);
    operands.window[2 * i + 1] = picked(beside, own, 0x3762);
#if JOINS_ROWS
    operands.own[i] = own;
#endif
  }
#else
#pragma unroll
  for (int i = 0; i < 2 * PRODUCTS; ++i) {
    const int window = min(i, WINDOWS - 1);
    operands.window[i] = window_from(row.word, 4 - CHANNELS + window / CHANNELS * 2 * CHANNELS + window % CHANNELS);
  }
#if JOINS_ROWS
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) operands.own[i] = row.word[1 + i];
#endif
#endif
  return operands;
}

inline outer_t outer_terms(operands_t row) {
#if JOINS_ROWS
  outer_t outer;
#pragma unroll
  for (int i = 0; i < PRODUCTS; ++i) outer.own[i] = row.own[i];
  return outer;
#else
  return row;
#endif
}

inline sums_t begun_sums(outer_t above, operands_t row, outer_t outer) {
  sums_t sums;
  sums.above = above;
  sums.own = row;
  return sums;
}

// What this item holds of the weights: of a column of the second matrix four. Two columns are for the item's own
// results. first, second: the weights of either result.
inline uint weights_of_item(uint first, uint second) {
  const uint lane = get_local_id(0) % 32;
  const uint weights = lane & 4 ? second : first;
  return lane / 8 == lane % 4 ? weights : 0;
}

// The weights of a window: of a result's own pixel and of those beside it. For the second result, a byte further.
#define ROW_WEIGHTS(beside, own) ((uint)((beside) & 0xff) * 0x00010001u | (uint)((own) & 0xff) << 8)
#define WINDOW_WEIGHTS(beside, own) weights_of_item(ROW_WEIGHTS(beside, own), ROW_WEIGHTS(beside, own) << 8)

#define PRODUCT(shape, sums, first, second, added) \
  "mma.sync.aligned." shape ".row.col.s32.u8.s8.s32 {" sums "}, {" first "}, {" second "}, {" added "};"

// Two results each of two windows, from two rows of either.
inline void multiply_rows(int *sums, const uint *first, const uint *second, uint of_first, uint of_second) {
  asm volatile(PRODUCT("m16n8k32", "%0, %1, %2, %3", "%4, %5, %6, %7", "%8, %9", "%10, %10, %10, %10")
               : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
               : "r"(first[0]), "r"(first[1]), "r"(second[0]), "r"(second[1]), "r"(of_first), "r"(of_second), "r"(0));
}

inline void add_row(int *sums, const uint *row, uint weights) {
  asm volatile(PRODUCT("m16n8k16", "%0, %1, %2, %3", "%4, %5", "%6", "%0, %1, %2, %3")
               : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
               : "r"(row[0]), "r"(row[1]), "r"(weights));
}

// The results whose sums are begun. below: outer_terms of the row below. is_odd: of the item's rows of results.
inline results_t finished_results(sums_t begun, outer_t below, int is_odd) {
  int sums[4 * PRODUCTS];
  const uint own_weights = WINDOW_WEIGHTS(EDGE, CENTRE);
#if JOINS_ROWS
  const uint edge = (EDGE) & 0xff, outer_weights = weights_of_item(edge * 0x00010001u, edge * 0x01000100u);
#pragma unroll
  for (int i = 0; i < PRODUCTS; ++i) {
    // Of a window the two pixels above, then those below.
    const uint outer[2] = {picked(begun.above.own[i], below.own[i], 0x5410),
                           picked(begun.above.own[i], below.own[i], 0x7632)};
    multiply_rows(sums + 4 * i, begun.own.window + 2 * i, outer, own_weights, outer_weights);
  }
#else
  // Rows that are multiplied together lie in registers side by side. An even row is always beside the one below it, so
  // that none is copied.
  const uint outer_weights = WINDOW_WEIGHTS(CORNER, EDGE);
#pragma unroll
  for (int i = 0; i < PRODUCTS; ++i) {
    const uint *above = begun.above.window + 2 * i, *own = begun.own.window + 2 * i, *last = below.window + 2 * i;
    if (is_odd) {
      multiply_rows(sums + 4 * i, above, own, outer_weights, own_weights);
      add_row(sums + 4 * i, last, outer_weights);
    } else {
      multiply_rows(sums + 4 * i, own, last, own_weights, outer_weights);
      add_row(sums + 4 * i, above, outer_weights);
    }
  }
#endif
  values_t values;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) {
    const int window = i / (2 * CHANNELS) * CHANNELS + i % CHANNELS;
    values.at[i] = sums[2 * window + i / CHANNELS % 2];
  }
  return results_of(values.vector);
}
