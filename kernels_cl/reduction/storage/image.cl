// The source is an image: a load is a texel of four channels, widened to 32 bits by the texture units (yan2011: Image).

#if VECTOR_WIDTH != 4
#error "a texel has four elements"
#endif

// differs: OpenCL C has a type for images and a function for each type of channel, CUDA C++ handles and templates.
#define SOURCE __read_only image1d_buffer_t
#define UNRESTRICTED_SOURCE SOURCE
#define READ_int read_imagei
#define READ_uint read_imageui
#define READ_float read_imagef
#define TEXEL_AT(source, index) JOIN(READ_, CHANNEL)(source, (int)(index))
// end differs

inline VECTOR_OF(ELEMENT) load_vector(SOURCE source, ulong index) {
// differs: OpenCL C converts a whole vector.
  return JOIN(convert_, VECTOR_OF(ELEMENT))(TEXEL_AT(source, index));
// end differs
}

inline ELEMENT load_element(SOURCE source, ulong index) {
  const VECTOR_OF(ELEMENT) texel = load_vector(source, index / VECTOR_WIDTH);
  return COMPONENT_AT(ELEMENT, texel, index % VECTOR_WIDTH);
}
