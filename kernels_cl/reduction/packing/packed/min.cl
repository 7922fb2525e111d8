// The smallest element in either half of the words.

#define LANES 2

typedef struct {
  uint lowest;
} lanes_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  lanes.lowest = HIGHEST_PAIR;
  return lanes;
}

inline lanes_t folded(lanes_t lanes, words_t words, ulong position) {
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    lanes.lowest = lowered(word_at(words, at), lanes.lowest);
  }
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.lowest = element_of(lanes.lowest, at);
  return partial;
}
