// The smallest and the largest element in either half of the words.

#define LANES 2

typedef struct {
  uint lowest;
  uint highest;
} lanes_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  lanes.lowest = HIGHEST_PAIR;
  lanes.highest = LOWEST_PAIR;
  return lanes;
}

inline lanes_t folded(lanes_t lanes, words_t words, ulong position) {
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    lanes.lowest = lowered(word_at(words, at), lanes.lowest);
    lanes.highest = raised(word_at(words, at), lanes.highest);
  }
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.lowest = element_of(lanes.lowest, at);
  partial.highest = element_of(lanes.highest, at);
  return partial;
}
