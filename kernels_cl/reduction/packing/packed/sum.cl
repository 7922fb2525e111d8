// The sum of all elements: a vector's is computed in 32 bits, which are enough, and added to the total.

#define COMPONENTS 1

#if LOWEST < 0
#define SUM int
#define ADDED(word, sum) added_signed(word, sum)
#else
#define SUM uint
#define ADDED(word, sum) added_unsigned(word, sum)
#endif

typedef struct {
  TOTAL total;
} accumulator_t;

inline accumulator_t empty_accumulator(void) {
  const accumulator_t accumulator = {0};
  return accumulator;
}

inline accumulator_t accumulate(accumulator_t accumulator, words_t words, ulong position) {
  SUM sum = 0;
#pragma unroll
  for (int at = 0; at < WORDS; ++at) sum = ADDED(word_at(words, at), sum);
  accumulator.total += sum;
  return accumulator;
}

inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {accumulator.total};
  return partial;
}
