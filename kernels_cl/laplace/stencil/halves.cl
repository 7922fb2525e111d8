// By the mask's symmetry, with the two sums of a word in half precision (fp16): from sm_80 on NVIDIA's GPUs execute its
// instructions at twice the rate of those for integers. The bits of a byte, read as a half, are that byte times 2^-24,
// and halves hold all whole multiples of 2^-24 up to 2048 of them. A sum that is more loses 1 at most, and saturates.

#if !HAS_PTX || COMPUTE_CAPABILITY < 80
#error "sums in half precision are written in PTX for sm_80"
#endif

// What a row adds to the results above and below it has one weight: that of the nearest neighbours, or of the corners.
#define IS_BOX (EDGE == CORNER)
#define OUTER_WEIGHT (EDGE != 0 ? EDGE : CORNER)
#if EDGE != 0 && CORNER != 0 && !IS_BOX
#error "the neighbours above and below have more than one weight"
#endif

// As PTX computes two halves, so do these.
inline uint added(uint a, uint b) {
  uint sum;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}

inline uint multiplied_and_added(uint a, uint b, uint c) {
  uint sum;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}

inline uint times_outer_weight(uint a) {
#if OUTER_WEIGHT == 1
  return a;
#elif OUTER_WEIGHT == -1
  uint negated;
  asm("neg.f16x2 %0, %1;" : "=r"(negated) : "r"(a));
  return negated;
#else
  uint product;
  asm("mul.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(OUTER_HALVES));
  return product;
#endif
}

typedef sums_t outer_t;

// What a row adds to the results above and below it, without its weight.
inline outer_t outer_terms(operands_t row) {
#if CORNER == 0
  return row.own.vector;
#else
  operand_t sums;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH / 2; ++i) {
#if !IS_BOX
    sums.word[i] = added(row.left.word[i], row.right.word[i]);
#elif CHANNELS == 1
    // The pairs of even and of odd places are each other's right and left neighbours: one sum serves both.
    const uint both = added(row.own.word[i & ~1], row.own.word[i | 1]);
    sums.word[i] = added(i % 2 ? row.right.word[i] : row.left.word[i], both);
#else
    sums.word[i] = added(added(row.left.word[i], row.right.word[i]), row.own.word[i]);
#endif
  }
  return sums.vector;
#endif
}

// The sums of a row of results without what the row below adds. above, outer: outer_terms of the row above and its own.
inline sums_t begun_sums(outer_t above, operands_t row, outer_t outer) {
  operand_t sums, own;
  sums.vector = above;
  own.vector = outer;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH / 2; ++i) {
    uint sum = sums.word[i];
    if (IS_BOX) {
      sum = added(sum, own.word[i]);
    } else if (EDGE != 0) {
      sum = added(sum, added(row.left.word[i], row.right.word[i]));
    }
    sums.word[i] = multiplied_and_added(row.own.word[i], OWN_HALVES, times_outer_weight(sum));
  }
  return sums.vector;
}

// The results whose sums are begun. below: outer_terms of the row below. is_odd: of the item's rows of results; only
// the stencil `matrix` asks.
inline results_t finished_results(sums_t sums, outer_t below, int is_odd) {
  operand_t begun, last;
  begun.vector = sums;
  last.vector = below;
  results_t results;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    // Negative sums become 0 with the last addition, and the halves up to 255 are whole numbers by their bits.
    asm("{\n"
        ".reg .b32 even, odd;\n"
        "fma.rn.relu.f16x2 even, %1, %5, %3;\n"
        "fma.rn.relu.f16x2 odd, %2, %5, %4;\n"
        "min.f16x2 even, even, %6;\n"
        "min.f16x2 odd, odd, %6;\n"
        "prmt.b32 %0, even, odd, 0x6240;\n"
        "}"
        : "=r"(results.packed[i])
        : "r"(last.word[2 * i]), "r"(last.word[2 * i + 1]), "r"(begun.word[2 * i]), "r"(begun.word[2 * i + 1]),
          "r"(OUTER_HALVES), "r"(0x00ff00ff));
  }
  return results;
}
