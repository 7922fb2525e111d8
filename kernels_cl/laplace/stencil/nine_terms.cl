// jia2012, basic form: a loop over the mask, which reads each of the nine neighbours by itself. A weight of 0 leaves
// its pixels out where 0 times them may be NaN.

inline results_t results_at(pixels_t pixels, int row PIXELS_PARAMETERS MASK_PARAMETERS) {
  VECTOR_OF(VALUE) sum;
  EACH_COMPONENT COMPONENT(sum) = SPLAT(VALUE, 0);
#pragma unroll 1
  for (int down = 0; down < 3; ++down) {
#pragma unroll 1
    for (int along = 0; along < 3; ++along) {
      const VALUE weight = WEIGHT(3 * down + along);
      if (!SATURATES && weight == 0) continue;
      const VECTOR_OF(VALUE) neighbour = neighbour_at(pixels, row + down - 1, along - 1 PIXELS_ARGUMENTS);
      EACH_COMPONENT COMPONENT(sum) += weight * COMPONENT(neighbour);
    }
  }
  return results_of(sum);
}
