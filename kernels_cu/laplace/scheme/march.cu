// A work-item goes down its rows and reads each row once, for all three rows of results that it adds to.

__device__ inline void filter_rows(image_t image, STORED *results, int column, int own,
                                   int top PIXELS_PARAMETERS MASK_PARAMETERS) {
  const pixels_t pixels = pixels_of_item(image, column, own, top PIXELS_ARGUMENTS);
  const bool has_results = ITEMS_TOGETHER == 1 || own > 0;
  // Every load is issued before the first use: the two rows above the first step's, and those of the first step.
  int row = top;
  const loaded_t first = load_pixels(pixels, row - 1 PIXELS_ARGUMENTS);
  const loaded_t second = load_pixels(pixels, row PIXELS_ARGUMENTS);
  loaded_t loaded[LOADS_IN_FLIGHT];
#pragma unroll
  for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = load_pixels(pixels, row + 1 + k PIXELS_ARGUMENTS);
  ROWS_ISSUED_FENCE();

  // `pending` are the sums of the next row of results, without what the row below it adds.
  const outer_t above = outer_terms(operands_of(window_at(pixels, row - 1, first)));
  operands_t neighbours = operands_of(window_at(pixels, row, second));
  outer_t outer = outer_terms(neighbours);
  sums_t pending = begun_sums(above, neighbours, outer);

#pragma unroll 1
  for (int done = 0; done < ROWS_PER_ITEM; done += LOADS_IN_FLIGHT) {
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k, ++row) {
      neighbours = operands_of(window_at(pixels, row + 1, loaded[k]));
      const outer_t below = outer_terms(neighbours);
      const results_t result = finished_results(pending, below, k % 2);
      pending = begun_sums(outer, neighbours, below);
      outer = below;
      if (has_row(image, row) && has_results) {
        store_words(results + (ulong)(uint)row * image.pitch + column, 0, result.words);
      }
    }
    if (done + LOADS_IN_FLIGHT >= ROWS_PER_ITEM || !has_row(image, row)) return;
#pragma unroll
    for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = load_pixels(pixels, row + 1 + k PIXELS_ARGUMENTS);
  }
}
