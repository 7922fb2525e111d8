// The smallest and the largest element of a batch at each place of a vector; only a batch that has one beyond those so
// far is looked through for where it stands.

// Always inlined, or else the batch goes through memory.
ALWAYS_INLINE void fold_batch(lanes_t *lanes, const LOADED *batch, UNRESTRICTED_SOURCE source, ulong index,
                              ulong step) {
  LOADED lowest, highest;
  extremes_of(batch, &lowest, &highest);
  bool is_beyond = false;
  EACH_LANE is_beyond |= ANY(IS_LOWER(LANE(lowest), SPLAT(ELEMENT, lanes->lowest)) |
                             IS_HIGHER(LANE(highest), SPLAT(ELEMENT, lanes->highest)));
  if (!is_beyond) return;
  // Read again, so that the batch can stay in registers.
  SELDOM for (int k = 0; k < LOADS_IN_FLIGHT; ++k) {
    const ulong at = index + k * step;
    *lanes = folded(*lanes, LOAD(source, at), at * VECTOR_WIDTH);
  }
}
