// What a row adds to the results of three rows, by the mask's symmetry. It uses, of the stencil's file, operands_t,
// sums_t, EACH_SUM, AS_SUM (a weight as the type of sums) and CENTRE_TERM (what pixels add to their own results).

// Whether all eight neighbours weigh the same. Then three pixels of a row are added once for all three rows of
// results. Not of floating point, where the pixel itself must not be added and taken away again.
#define IS_BOX (SATURATES && EDGE == CORNER)

// What a row adds to the results above and below it. A weight of 0 leaves its pixels out: 0 times an infinite pixel is
// NaN.
inline sums_t outer_terms(operands_t row) {
  sums_t sum;
#if IS_BOX
  EACH_SUM COMPONENT(sum) =
      AS_SUM(EDGE) * (COMPONENT(row.left.vector) + COMPONENT(row.own.vector) + COMPONENT(row.right.vector));
#elif EDGE == 0
  EACH_SUM COMPONENT(sum) = AS_SUM(CORNER) * (COMPONENT(row.left.vector) + COMPONENT(row.right.vector));
#elif CORNER == 0
  EACH_SUM COMPONENT(sum) = AS_SUM(EDGE) * COMPONENT(row.own.vector);
#else
  EACH_SUM COMPONENT(sum) =
      AS_SUM(EDGE) * COMPONENT(row.own.vector) +
      AS_SUM(CORNER) * (COMPONENT(row.left.vector) + COMPONENT(row.right.vector));
#endif
  return sum;
}

// What a row adds to the results of its own row.
inline sums_t inner_terms(operands_t row) {
  sums_t sum;
#if IS_BOX
  sum = outer_terms(row);
  EACH_SUM COMPONENT(sum) += CENTRE_TERM((CENTRE - EDGE), COMPONENT(row.own.vector));
#elif EDGE == 0
  EACH_SUM COMPONENT(sum) = CENTRE_TERM(CENTRE, COMPONENT(row.own.vector));
#else
  EACH_SUM COMPONENT(sum) =
      CENTRE_TERM(CENTRE, COMPONENT(row.own.vector)) +
      AS_SUM(EDGE) * (COMPONENT(row.left.vector) + COMPONENT(row.right.vector));
#endif
  return sum;
}

#define operands_at(row) operands_of(window_at(pixels, row, load_pixels(pixels, row PIXELS_ARGUMENTS)))
inline sums_t sum_at(pixels_t pixels, int row PIXELS_PARAMETERS MASK_PARAMETERS) {
  sums_t sum = outer_terms(operands_at(row - 1));
  const sums_t inner = inner_terms(operands_at(row));
  const sums_t below = outer_terms(operands_at(row + 1));
  EACH_SUM COMPONENT(sum) += COMPONENT(inner) + COMPONENT(below);
  return sum;
}
