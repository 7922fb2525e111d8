// The sum of all elements: a vector's is computed in 32 bits, which are enough, and added to the total. Where no
// instruction adds up a word of bytes, every second byte has a place of 16 bits, in which a vector's do not overflow.

#define COMPONENTS 1

#define ADDS_IN_PLACES (ELEMENT_BITS == 8 && COMPARES_WORDS && !ADDS_UP_WORDS)

// Signed bytes are unsigned with 128 added to each.
#if LOWEST < 0
#define SUM int
#define EXCESS 128
#define EXCESSES 0x80808080u
#define ADDED(word, sum) added_signed(word, sum)
#else
#define SUM uint
#define EXCESS 0
#define EXCESSES 0u
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
#if ADDS_IN_PLACES
  uint all = 0;
  uint upper = 0;
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    const uint word = word_at(words, at) ^ EXCESSES;
    all += word;
    upper += (word >> 8) & 0x00ff00ffu;
  }
  // Without the upper bytes at their places in the words, and with them at those of the lower ones.
  const uint pairs = all - (upper << 8) + upper;
  const SUM sum = (SUM)((pairs * 0x00010001u) >> 16) - EXCESS * VECTOR_WIDTH;
#else
  SUM sum = 0;
#pragma unroll
  for (int at = 0; at < WORDS; ++at) sum = ADDED(word_at(words, at), sum);
#endif
  accumulator.total += sum;
  return accumulator;
}

inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {accumulator.total};
  return partial;
}
