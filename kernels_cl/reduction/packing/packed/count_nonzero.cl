// How many elements are not zero: each leaves its highest bit set, and the bits are added.

#define LANES 1

#if ELEMENT_BITS == 8
#define HIGHEST_BITS 0x80808080u
#else
#define HIGHEST_BITS 0x80008000u
#endif

typedef struct {
  ulong count;
} lanes_t;

inline lanes_t no_lanes(void) {
  lanes_t lanes;
  lanes.count = 0;
  return lanes;
}

inline lanes_t folded(lanes_t lanes, words_t words, ulong position) {
  uint sum = 0;
#pragma unroll
  for (int at = 0; at < WORDS; ++at) {
    const uint word = word_at(words, at);
    // The sum carries into the highest bit of an element unless all its other bits are zero, and no further.
    const uint nonzero = (((word & ~HIGHEST_BITS) + ~HIGHEST_BITS) | word) & HIGHEST_BITS;
    sum = added_unsigned(nonzero, sum);
  }
  lanes.count += sum >> (ELEMENT_BITS - 1);
  return lanes;
}

inline partial_t lane(lanes_t lanes, int at) {
  partial_t partial;
  partial.count = lanes.count;
  return partial;
}
