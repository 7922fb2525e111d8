// The largest element in either half of the words.

#define COMPONENTS 2

typedef struct {
  uint highest;
} accumulator_t;

inline accumulator_t empty_accumulator(void) {
  const accumulator_t accumulator = {LOWEST_PAIR};
  return accumulator;
}

inline accumulator_t accumulate(accumulator_t accumulator, words_t words, ulong position) {
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    accumulator.highest = raised(word_at(words, at), accumulator.highest);
  }
  return accumulator;
}

inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {element_of(accumulator.highest, at)};
  return partial;
}
