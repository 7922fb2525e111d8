// The smallest and the largest element so far, each in both halves of a word, and the vectors in which each was first
// met. The extremes of a work-item change a few times only, mostly at the start.

#define COMPONENTS 1

// The bits below a byte that is kept: so set that only a lower, or a higher, byte replaces it.
#if COMPARES_WORDS
#define BELOW (0xffffffffu >> ELEMENT_BITS)
#elif ELEMENT_BITS == 8
#define BELOW 0x00ff00ffu
#else
#define BELOW 0u
#endif

typedef struct {
  uint lowest;
  uint highest;
  POSITION lowest_at;
  POSITION highest_at;
} accumulator_t;

__device__ inline accumulator_t empty_accumulator(void) {
  const accumulator_t accumulator = {HIGHEST_PAIR & ~BELOW, LOWEST_PAIR | BELOW, 0, 0};
  return accumulator;
}

__device__ inline uint swapped(uint pair) {
#if COMPARES_WORDS
  return pair;
#else
  return pair << 16 | pair >> 16;
#endif
}

__device__ inline accumulator_t accumulate(accumulator_t accumulator, words_t words, ulong position) {
  uint lowest = accumulator.lowest;
  uint highest = accumulator.highest;
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    lowest = lowered(word_at(words, at), lowest);
    highest = raised(word_at(words, at), highest);
  }
  if (lowest != accumulator.lowest) {
    accumulator.lowest = lesser_pair(lowest, swapped(lowest)) & ~BELOW;
    accumulator.lowest_at = position;
  }
  if (highest != accumulator.highest) {
    accumulator.highest = greater_pair(highest, swapped(highest)) | BELOW;
    accumulator.highest_at = position;
  }
  return accumulator;
}

__device__ inline partial_t component_partial(accumulator_t accumulator, int at) {
  const found_t found = {element_of(accumulator.lowest, 0), element_of(accumulator.highest, 0), accumulator.lowest_at,
                         accumulator.highest_at};
  return partial_of(found);
}

// Work-items keep the positions of vectors only. Once for a group, this finds in that vector the position of the first
// element that has the extreme. All loads are independent, and the last match is the first element.
__device__ inline partial_t located(partial_t partial, SOURCE source, ulong length) {
  found_t found = found_in(partial);
  const uint lowest = in_order(found.lowest, 0u);
  const uint highest = in_order(found.highest, 0u);
  const ulong lowest_from = found.lowest_at;
  const ulong highest_from = found.highest_at;
  ulong lowest_at = lowest_from;
  ulong highest_at = highest_from;
#pragma unroll
  for (int at = VECTOR_WIDTH - 1; at >= 0; --at) {
    if (lowest_from + at < length && in_order(load_element(source, lowest_from + at), 0u) == lowest) {
      lowest_at = lowest_from + at;
    }
    if (highest_from + at < length && in_order(load_element(source, highest_from + at), 0u) == highest) {
      highest_at = highest_from + at;
    }
  }
  found.lowest_at = lowest_at;
  found.highest_at = highest_at;
  return partial_of(found);
}
