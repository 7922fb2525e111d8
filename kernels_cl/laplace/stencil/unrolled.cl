// jia2012, unrolled: the nine terms one after the other. A weight of 0 leaves its pixels out where 0 times them may be
// NaN.

#define ADD_TERM(down, along)                                                              \
  if (SATURATES || WEIGHT(3 * (down) + (along)) != 0) {                                    \
    const VECTOR_OF(VALUE) neighbour =                                                     \
        neighbour_at(pixels, row + (down) - 1, (along) - 1 PIXELS_ARGUMENTS);              \
    EACH_COMPONENT COMPONENT(sum) += WEIGHT(3 * (down) + (along)) * COMPONENT(neighbour);  \
  }

inline results_t results_at(pixels_t pixels, int row PIXELS_PARAMETERS MASK_PARAMETERS) {
  VECTOR_OF(VALUE) sum;
  EACH_COMPONENT COMPONENT(sum) = SPLAT(VALUE, 0);
  ADD_TERM(0, 0)
  ADD_TERM(0, 1)
  ADD_TERM(0, 2)
  ADD_TERM(1, 0)
  ADD_TERM(1, 1)
  ADD_TERM(1, 2)
  ADD_TERM(2, 0)
  ADD_TERM(2, 1)
  ADD_TERM(2, 2)
  return results_of(sum);
}
