// The source is an image: a load is a texel of four channels, widened to 32 bits by the texture units (yan2011: Image).

#if VECTOR_WIDTH != 4
#error "a texel has four elements"
#endif

// differs: OpenCL C has a type for images and a function for each type of channel, CUDA C++ handles and templates.
#define SOURCE const cudaTextureObject_t
#define UNRESTRICTED_SOURCE SOURCE
#define TEXEL_NAMED(type) type##4
#define TEXEL_OF(type) TEXEL_NAMED(type)
#define TEXEL_AT(source, index) tex1Dfetch<TEXEL_OF(CHANNEL)>(source, (int)(index))
// end differs

__device__ inline VECTOR_OF(ELEMENT) load_vector(SOURCE source, ulong index) {
// differs: OpenCL C converts a whole vector.
  const TEXEL_OF(CHANNEL) texel = TEXEL_AT(source, index);
  const CHANNEL channels[VECTOR_WIDTH] = {texel.x, texel.y, texel.z, texel.w};
  VECTOR_OF(ELEMENT) vector;
  EACH_COMPONENT COMPONENT(vector) = channels[component];
  return vector;
// end differs
}

__device__ inline ELEMENT load_element(SOURCE source, ulong index) {
  const VECTOR_OF(ELEMENT) texel = load_vector(source, index / VECTOR_WIDTH);
  return COMPONENT_AT(ELEMENT, texel, index % VECTOR_WIDTH);
}
