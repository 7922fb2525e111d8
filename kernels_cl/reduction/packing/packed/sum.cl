// The sum of all elements: 32 bits are enough for a vector's, which then joins the total.

#define LANES 1

#if LOWEST < 0
#define SUM int
#define ADDED(word, sum) added_signed(word, sum)
#else
#define SUM uint
#define ADDED(word, sum) added_unsigned(word, sum)
#endif

typedef struct {
  TOTAL total;
} lanes_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  lanes.total = 0;
  return lanes;
}

inline lanes_t folded(lanes_t lanes, words_t words, ulong position) {
  SUM sum = 0;
#pragma unroll
  for (int at = 0; at < WORDS; ++at) sum = ADDED(word_at(words, at), sum);
  lanes.total += sum;
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.total = lanes.total;
  return partial;
}
