// The smallest and the largest number of a batch in each component; only a batch that has one beyond those so far, or a
// NaN, is searched for its position.

// Always inlined: otherwise the batch is passed through memory.
ALWAYS_INLINE void accumulate_batch(accumulator_t *accumulator, const LOADED *batch, UNRESTRICTED_SOURCE source,
                                    ulong index, ulong step) {
  LOADED lowest, highest;
  extremes_of(batch, &lowest, &highest);
  VECTOR_OF(AS_WIDE) beyond = nan_in(batch);
  EACH_COMPONENT COMPONENT(beyond) |= (COMPONENT(lowest) < SPLAT(ELEMENT, accumulator->lowest)) |
                                      (COMPONENT(highest) > SPLAT(ELEMENT, accumulator->highest));
  bool is_beyond = false;
  EACH_COMPONENT is_beyond |= ANY(COMPONENT(beyond));
  if (!is_beyond) return;
  // The elements are read again, so that the batch can stay in registers.
  UNROLL_ON_GPU for (int k = 0; k < LOADS_IN_FLIGHT; ++k) {
    const ulong at = index + k * step;
    *accumulator = accumulate(*accumulator, LOAD(source, at), at * VECTOR_WIDTH);
  }
}
