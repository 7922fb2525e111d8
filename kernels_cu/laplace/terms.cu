// What a row adds to the results of three rows, by the mask's symmetry. It uses, of the stencil's file, operands_t,
// sums_t, results_of_sums, EACH_SUM, AS_SUM (a weight as the type of sums) and CENTRE_TERM (what pixels add to their
// own results).

// Whether all eight neighbours weigh the same. Then three pixels of a row are added once for all three rows of
// results. Not of floating point, where the pixel itself must not be added and taken away again.
#define IS_BOX (SATURATES && EDGE == CORNER)

typedef sums_t outer_t;

// What a row adds to the results above and below it. A weight of 0 leaves its pixels out: 0 times an infinite pixel is
// NaN.
__device__ inline outer_t outer_terms(operands_t row) {
  outer_t sum;
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

// What a row adds to the results of its own row. outer: its outer_terms.
__device__ inline sums_t inner_terms(operands_t row, outer_t outer) {
#if IS_BOX
  EACH_SUM COMPONENT(outer) += CENTRE_TERM((CENTRE - EDGE), COMPONENT(row.own.vector));
  return outer;
#else
  sums_t sum;
#if EDGE == 0
  EACH_SUM COMPONENT(sum) = CENTRE_TERM(CENTRE, COMPONENT(row.own.vector));
#else
  EACH_SUM COMPONENT(sum) =
      CENTRE_TERM(CENTRE, COMPONENT(row.own.vector)) +
      AS_SUM(EDGE) * (COMPONENT(row.left.vector) + COMPONENT(row.right.vector));
#endif
  return sum;
#endif
}

// The sums of a row of results without what the row below adds. above, outer: outer_terms of the row above and its own.
__device__ inline sums_t begun_sums(outer_t above, operands_t row, outer_t outer) {
  const sums_t inner = inner_terms(row, outer);
  EACH_SUM COMPONENT(above) += COMPONENT(inner);
  return above;
}

// The results whose sums are begun. below: outer_terms of the row below. is_odd: of the item's rows of results; only
// the stencil `matrix` asks.
__device__ inline results_t finished_results(sums_t sums, outer_t below, int is_odd) {
  EACH_SUM COMPONENT(sums) += COMPONENT(below);
  return results_of_sums(sums);
}
