// By the mask's symmetry, as `symmetric`, with two sums in a word of 32 bits, which one instruction adds or multiplies:
// sums of bytes fit 16 bits. Here is how these become results.

inline results_t results_of_sums(sums_t sums) {
  operand_t pairs;
  pairs.vector = sums;
#if HAS_PTX && COMPUTE_CAPABILITY >= 90
  results_t results;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    // One instruction takes the bias from both sums of a word and saturates them.
    asm("{\n"
        ".reg .b32 even, odd;\n"
        "add.s16x2 even, %1, %3;\n"
        "add.s16x2 odd, %2, %3;\n"
        "min.s16x2.relu even, even, %4;\n"
        "min.s16x2.relu odd, odd, %4;\n"
        "prmt.b32 %0, even, odd, 0x6240;\n"
        "}"
        : "=r"(results.packed[i])
        : "r"(pairs.word[2 * i]), "r"(pairs.word[2 * i + 1]), "r"((0x10000 - BIAS) * 0x00010001u), "r"(0x00ff00ff));
  }
  return results;
#else
  values_t values;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) {
    const uint pair = pairs.word[i / 4 * 2 + i % 2];
    values.at[i] = (int)(i % 4 < 2 ? pair & 0xffff : pair >> 16) - BIAS;
  }
  return results_of(values.vector);
#endif
}
