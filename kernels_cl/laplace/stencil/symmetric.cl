// The masks are symmetric: a row adds the same to the results above and below it, and its left and right neighbours are
// added before they are multiplied.

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

inline VECTOR_OF(VALUE) sum_at(pixels_t pixels, int row MASK_PARAMETERS) {
  VECTOR_OF(VALUE) sum = outer_terms(neighbours_of(window_at(pixels, row - 1, load_pixels(pixels, row - 1))));
  const VECTOR_OF(VALUE) inner = inner_terms(neighbours_of(window_at(pixels, row, load_pixels(pixels, row))));
  const VECTOR_OF(VALUE) below =
      outer_terms(neighbours_of(window_at(pixels, row + 1, load_pixels(pixels, row + 1))));
  EACH_COMPONENT COMPONENT(sum) += COMPONENT(inner) + COMPONENT(below);
  return sum;
}
