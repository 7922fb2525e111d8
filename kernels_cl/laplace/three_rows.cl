// The results of a row by themselves, for stencils that tell what a whole row adds to the results of three.

#define operands_at(row) operands_of(window_at(pixels, row, load_pixels(pixels, row PIXELS_ARGUMENTS)))
inline results_t results_at(pixels_t pixels, int row PIXELS_PARAMETERS MASK_PARAMETERS) {
  const outer_t above = outer_terms(operands_at(row - 1));
  const operands_t own = operands_at(row);
  const sums_t sums = begun_sums(above, own, outer_terms(own));
  return finished_results(sums, outer_terms(operands_at(row + 1)), 0);
}
