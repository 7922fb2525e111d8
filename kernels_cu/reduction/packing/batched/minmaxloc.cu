// The smallest and the largest element of a batch in each component; only a batch that has one beyond those so far is
// searched for its position.

// Always inlined: otherwise the batch is passed through memory.
ALWAYS_INLINE void accumulate_batch(accumulator_t *accumulator, const LOADED *batch, UNRESTRICTED_SOURCE source,
                                    ulong index, ulong step) {
  LOADED lowest, highest;
  extremes_of(batch, &lowest, &highest);
  bool is_beyond = false;
  EACH_COMPONENT is_beyond |= ANY(IS_LOWER(COMPONENT(lowest), SPLAT(ELEMENT, accumulator->lowest)) |
                                  IS_HIGHER(COMPONENT(highest), SPLAT(ELEMENT, accumulator->highest)));
  if (!is_beyond) return;
  // The elements are read again, so that the batch can stay in registers.
  UNROLL_ON_GPU for (int k = 0; k < LOADS_IN_FLIGHT; ++k) {
    const ulong at = index + k * step;
    *accumulator = accumulate(*accumulator, LOAD(source, at), at * VECTOR_WIDTH);
  }
}
