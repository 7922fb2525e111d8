// Each result is computed by itself, from all the pixels that it needs: nothing is kept for the next row's.

__device__ inline void filter_rows(image_t image, STORED *results, int column, int own,
                                   int top PIXELS_PARAMETERS MASK_PARAMETERS) {
  const pixels_t pixels = pixels_of_item(image, column, own, top PIXELS_ARGUMENTS);
  const bool has_results = ITEMS_TOGETHER == 1 || own > 0;
#pragma unroll 1
  for (int row = top; row < top + ROWS_PER_ITEM; ++row) {
    if (!has_row(image, row)) return;
    const results_t result = results_at(pixels, row PIXELS_ARGUMENTS MASK_ARGUMENTS);
    if (has_results) store_words(results + (ulong)(uint)row * image.pitch + column, 0, result.words);
  }
}
