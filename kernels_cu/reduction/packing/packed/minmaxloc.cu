// The smallest and the largest element so far, each in both halves of a word, and the vectors in which each was first
// met. A work-item's extremes change a few times only, mostly at the start.

#ifndef VECTOR_WIDTH
#error "VECTOR_WIDTH is not defined"
#endif

#define LANES 1

// Below a byte that is kept stands what lets only a lower or a higher one take its place.
#if ELEMENT_BITS == 8
#define BELOW 0x00ff00ffu
#else
#define BELOW 0u
#endif

typedef struct {
  uint lowest;
  uint highest;
  PLACE lowest_at;
  PLACE highest_at;
} lanes_t;

__device__ inline lanes_t no_lanes(void) {
  lanes_t lanes;
  lanes.lowest = HIGHEST_PAIR & ~BELOW;
  lanes.highest = LOWEST_PAIR | BELOW;
  lanes.lowest_at = 0;
  lanes.highest_at = 0;
  return lanes;
}

__device__ inline uint swapped(uint pair) {
  return pair << 16 | pair >> 16;
}

__device__ inline lanes_t folded(lanes_t lanes, words_t words, ulong position) {
  uint lowest = lanes.lowest;
  uint highest = lanes.highest;
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    lowest = lowered(word_at(words, at), lowest);
    highest = raised(word_at(words, at), highest);
  }
  if (lowest != lanes.lowest) {
    lanes.lowest = lesser_pair(lowest, swapped(lowest)) & ~BELOW;
    lanes.lowest_at = position;
  }
  if (highest != lanes.highest) {
    lanes.highest = greater_pair(highest, swapped(highest)) | BELOW;
    lanes.highest_at = position;
  }
  return lanes;
}

__device__ inline partial_t lane(lanes_t lanes, int at) {
  found_t found;
  found.lowest = element_of(lanes.lowest, 0);
  found.highest = element_of(lanes.highest, 0);
  found.lowest_at = lanes.lowest_at;
  found.highest_at = lanes.highest_at;
  return partial_of(found);
}

// Work-items keep the places of vectors only; here, once for a group, each becomes that of the first element in its
// vector that is the one. All loads are independent, and the last match is the first element.
__device__ inline partial_t located(partial_t partial, SOURCE source, ulong length) {
  const ulong lowest_from = LOWEST_AT(partial);
  const ulong highest_from = HIGHEST_AT(partial);
  ulong lowest_at = lowest_from;
  ulong highest_at = highest_from;
#pragma unroll
  for (int at = VECTOR_WIDTH - 1; at >= 0; --at) {
    if (lowest_from + at < length && IS_LOWEST(load_element(source, lowest_from + at), partial)) {
      lowest_at = lowest_from + at;
    }
    if (highest_from + at < length && IS_HIGHEST(load_element(source, highest_from + at), partial)) {
      highest_at = highest_from + at;
    }
  }
  return placed(partial, lowest_at, highest_at);
}
