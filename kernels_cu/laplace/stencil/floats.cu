// As `paired`, but for the results, which are saturated and joined in single precision: NVIDIA's GPUs execute that
// beside instructions for integers, and saturate to 0 and 1 at no cost.

// The bits of a sum below those of 2^23 are a float that is 2^23 more than the sum.
// differs: OpenCL C joins halves of words by vectors, CUDA C++ by an instruction for bytes.
__device__ inline float lower_as_float(uint pair) {
  return __uint_as_float(__byte_perm(pair, 0x4b00, 0x5410));
}
__device__ inline float upper_as_float(uint pair) {
  return __uint_as_float(__byte_perm(pair, 0x4b00, 0x5432));
}
__device__ inline uint lower_halves_of(uint first, uint second) {
  return __byte_perm(first, second, 0x5410);
}
// end differs

// A sum as a share of 255, at least 0 and at most 1. Adding 2^23 to a whole number moves it to a float's lowest bits.
#define TO_LOWEST_BITS 0x800000
__device__ inline float saturated(float sum) {
  return fmin(fmax((sum - (float)(TO_LOWEST_BITS + BIAS)) * (1.0f / 255), 0.0f), 1.0f);
}

// Two results in the lowest 16 bits. Shares times 255 are rounded to whole numbers, which their errors do not reach.
__device__ inline uint joined(float lower, float upper) {
  return FLOAT_BITS(saturated(upper) * (255 * 256) + (saturated(lower) * 255 + (float)TO_LOWEST_BITS));
}

__device__ inline results_t results_of_sums(sums_t sums) {
  operand_t pairs;
  pairs.vector = sums;
  results_t results;
#pragma unroll
  for (int i = 0; i < OWN_WORDS; ++i) {
    const uint even = pairs.word[2 * i], odd = pairs.word[2 * i + 1];
    const uint first = joined(lower_as_float(even), lower_as_float(odd));
    const uint second = joined(upper_as_float(even), upper_as_float(odd));
    results.packed[i] = lower_halves_of(first, second);
  }
  return results;
}
