// Loads of words without a hint to the caches, and stores that they give up first, so that the source stays.

// differs: OpenCL C moves a whole vector, NVIDIA's in PTX; CUDA C++ has functions for each width.
#define LOAD_WORDS(from) __ldg(from)
#define STORE_WORDS(to, words) __stcs(to, words)
// end differs
