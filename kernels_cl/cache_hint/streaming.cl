// Loads and stores of words that the caches give up first.

// differs: OpenCL C moves a whole vector, NVIDIA's in PTX; CUDA C++ has functions for each width.
#if HAS_PTX
#define LOAD_WORDS(from) (*(from))
#define STORE_WORDS(to, words) (*(to) = (words))
#else
// Clang's own functions: OpenCL C has none.
#define LOAD_WORDS(from) __builtin_nontemporal_load(from)
#define STORE_WORDS(to, words) __builtin_nontemporal_store(words, to)
#endif
#define LOAD_PTX "ld.global.cs"
#define STORE_PTX "st.global.cs"
#define LOAD_POLICY(place)
#define LOAD_POLICY_INPUT
// end differs
