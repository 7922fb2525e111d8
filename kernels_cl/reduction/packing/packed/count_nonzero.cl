// How many elements are not zero: the highest bit of each element becomes 1 where it is not, and these bits are added
// by the instruction that adds up a word where there is one. Elsewhere each element's place has a sum, and a product
// adds these up at the end: a vector has at most 128 elements, so that no place overflows.

#define COMPONENTS 1

#if ELEMENT_BITS == 8
#define HIGHEST_BITS 0x80808080u
#define LOWEST_BITS 0x01010101u
#else
#define HIGHEST_BITS 0x80008000u
#define LOWEST_BITS 0x00010001u
#endif

typedef struct {
  ulong count;
} accumulator_t;

inline accumulator_t empty_accumulator(void) {
  const accumulator_t accumulator = {0};
  return accumulator;
}

inline accumulator_t accumulate(accumulator_t accumulator, words_t words, ulong position) {
  uint sum = 0;
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    const uint word = word_at(words, at);
    // The sum carries into the highest bit of an element unless all its other bits are zero, and no further.
    const uint nonzero = (((word & ~HIGHEST_BITS) + ~HIGHEST_BITS) | word) & HIGHEST_BITS;
#if ADDS_UP_WORDS
    sum = added_unsigned(nonzero, sum);
#else
    sum += nonzero >> (ELEMENT_BITS - 1);
#endif
  }
#if ADDS_UP_WORDS
  accumulator.count += sum >> (ELEMENT_BITS - 1);
#else
  accumulator.count += (sum * LOWEST_BITS) >> (32 - ELEMENT_BITS);
#endif
  return accumulator;
}

inline partial_t component_partial(accumulator_t accumulator, int at) {
  const partial_t partial = {accumulator.count};
  return partial;
}
