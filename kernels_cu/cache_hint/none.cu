// Loads and stores of words without a hint to the caches.

// differs: OpenCL C moves a whole vector, NVIDIA's in PTX; CUDA C++ has functions for each width.
#define LOAD_WORDS(from) __ldg(from)
#define STORE_WORDS(to, words) store_load(to, words)

template <typename type>
__device__ inline void store_load(type *to, type words) {
  *to = words;
}

#if HAS_PTX
// Volatile as in OpenCL C: otherwise the compiler delays the stores, and a Laplace filter is slower.
__device__ inline void store_load(uint4 *to, uint4 words) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words.x), "r"(words.y), "r"(words.z),
               "r"(words.w)
               : "memory");
}
#endif
// end differs
