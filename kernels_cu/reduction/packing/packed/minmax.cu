// The smallest and the largest element in either half of the words.

#define COMPONENTS 2

typedef struct {
  uint lowest;
  uint highest;
} accumulator_t;

__device__ inline accumulator_t empty_accumulator(void) {
  const accumulator_t accumulator = {HIGHEST_PAIR, LOWEST_PAIR};
  return accumulator;
}

__device__ inline accumulator_t accumulate(accumulator_t accumulator, words_t words, ulong position) {
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    accumulator.lowest = lowered(word_at(words, at), accumulator.lowest);
    accumulator.highest = raised(word_at(words, at), accumulator.highest);
  }
  return accumulator;
}

__device__ inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {element_of(accumulator.lowest, at), element_of(accumulator.highest, at)};
  return partial;
}
