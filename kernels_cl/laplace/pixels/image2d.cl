// The source is a two-dimensional image (texture): neighbours are read by their coordinates, through the caches of the
// texture units. Where the units' own border is the problem's (IMAGE_BORDER: 1 the nearest texel, 2 zero), they find
// what lies outside; elsewhere coordinates are selected before. A texel is a pixel, or one of its elements.

#define PIXELS_LOCALS
#define PIXELS_PARAMETERS , SOURCE source
#define PIXELS_ARGUMENTS , source
#define MEMORY_OF(source) 0
#define SHARE_PIXELS(image, column, top)
#define ROW_END_DIFFERS 0

typedef struct {
  VALUE at[TEXEL_ELEMENTS];
} texel_t;

// differs: OpenCL C has a type for images, samplers and functions by channel, CUDA C++ handles and templates.
#define SOURCE __read_only image2d_t
#define READ_int read_imagei
#define READ_uint read_imageui
#define READ_float read_imagef
#if IMAGE_BORDER == 1
#define ADDRESSES CLK_ADDRESS_CLAMP_TO_EDGE
#elif IMAGE_BORDER == 2
#define ADDRESSES CLK_ADDRESS_CLAMP
#else
#define ADDRESSES CLK_ADDRESS_NONE
#endif
__constant sampler_t sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST | ADDRESSES;

inline texel_t texel_at(SOURCE source, int x, int y) {
  const JOIN(CHANNEL, 4) channels = JOIN(READ_, CHANNEL)(source, sampler, (int2)(x, y));
  texel_t texel;
  texel.at[0] = channels.x;
#if TEXEL_ELEMENTS == 4
  texel.at[1] = channels.y;
  texel.at[2] = channels.z;
  texel.at[3] = channels.w;
#endif
  return texel;
}
// end differs

typedef struct {
  image_t image;
  int column;
} pixels_t;

typedef window_t loaded_t;

// The texel that an element lies in, which may be of a pixel outside.
inline texel_t texel_of(image_t image, int row, int column PIXELS_PARAMETERS) {
#if IMAGE_BORDER
  return texel_at(source, (column + CHANNELS) / TEXEL_ELEMENTS - CHANNELS / TEXEL_ELEMENTS, row);
#else
  const int read = IS_INTERIOR(image) ? column : min(column, image.row_elements + CHANNELS - 1);
  const int inside = column_inside(image, read);
  texel_t texel = texel_at(source, inside / TEXEL_ELEMENTS, row_inside(image, row));
#if BORDER_IS_CONSTANT
  if (is_row_outside(image, row) | is_column_outside(image, column)) {
#pragma unroll
    for (int k = 0; k < TEXEL_ELEMENTS; ++k) texel.at[k] = BORDER_VALUE;
  }
#endif
  return texel;
#endif
}

inline VALUE element_of(image_t image, int row, int column PIXELS_PARAMETERS) {
  return texel_of(image, row, column PIXELS_ARGUMENTS).at[(column + CHANNELS) % TEXEL_ELEMENTS];
}

inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  pixels_t pixels;
  pixels.image = image;
  pixels.column = column;
  return pixels;
}

inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  loaded_t loaded;
#if VECTOR_WIDTH % TEXEL_ELEMENTS == 0
#pragma unroll
  for (int i = 0; i < WINDOW; i += TEXEL_ELEMENTS) {
    const texel_t texel = texel_of(pixels.image, row, column_of(pixels.column, i) PIXELS_ARGUMENTS);
#pragma unroll
    for (int k = 0; k < TEXEL_ELEMENTS; ++k) loaded.at[i + k] = texel.at[k];
  }
#else
#pragma unroll
  for (int i = 0; i < WINDOW; ++i) {
    loaded.at[i] = element_of(pixels.image, row, column_of(pixels.column, i) PIXELS_ARGUMENTS);
  }
#endif
  return loaded;
}

inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  return loaded;
}

inline VECTOR_OF(VALUE) neighbour_at(pixels_t pixels, int row, int along PIXELS_PARAMETERS) {
  values_t values;
#pragma unroll
  for (int i = 0; i < VECTOR_WIDTH; ++i) {
    values.at[i] = element_of(pixels.image, row, pixels.column + i + along * CHANNELS PIXELS_ARGUMENTS);
  }
  return values.vector;
}
