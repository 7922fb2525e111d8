// Loads and stores of words that the caches give up first.

// differs: OpenCL C moves a whole vector, NVIDIA's in PTX; CUDA C++ has functions for each width.
#define LOAD_WORDS(from) __ldcs(from)
#define STORE_WORDS(to, words) __stcs(to, words)
// end differs
