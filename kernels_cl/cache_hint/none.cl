// Loads and stores of words without a hint to the caches.

// differs: OpenCL C moves a whole vector, NVIDIA's in PTX; CUDA C++ has functions for each width.
#define LOAD_WORDS(from) (*(from))
#define STORE_WORDS(to, words) (*(to) = (words))
#define LOAD_PTX "ld.global.nc"
#define STORE_PTX "st.global"
#define LOAD_POLICY(place)
#define LOAD_POLICY_INPUT
// end differs
