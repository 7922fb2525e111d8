// A work-item reads its own elements of a row as in `global`, and gets their neighbours by shuffles from the work-items
// beside it in the sub-group. Only those at the ends of the sub-group and of the row load neighbours.

#define PIXELS_LOCALS
#define SOURCE __global const STORED *restrict
#define MEMORY_OF(source) source
#define PIXELS_PARAMETERS
#define PIXELS_ARGUMENTS
#define SHARE_PIXELS(image, column, top)
#define ROW_END_DIFFERS 1

// How many work-items away the neighbours are.
#define REACH (VECTOR_WIDTH < CHANNELS ? CHANNELS / VECTOR_WIDTH : 1)

// Words of 32 bits that the item's own elements fill, and the words of its neighbours'.
#define SHARED_WORDS ((VECTOR_BYTES + 3) / 4)
#define HALO_WORDS ((HALO_BYTES + 3) / 4)

typedef union {
  words_t words;
  STORED at[VECTOR_WIDTH];
  uint word[SHARED_WORDS];
} shared_t;

typedef struct {
  image_t image;
  columns_t columns;
  bool loads_left, loads_right;
} pixels_t;

// The neighbours of an item that loads on one side are in `left`, whichever side it is.
typedef row_t loaded_t;

inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  const int lane = get_local_id(0) % SUB_GROUP_WIDTH;
  pixels_t pixels;
  pixels.image = image;
  pixels.columns = columns_of_item(image, column, own);
  pixels.loads_left = lane < REACH;
  // An item beyond the row takes part as its first.
  const int to_end = own > 0 ? own : image.row_elements;
  pixels.loads_right = lane >= SUB_GROUP_WIDTH - REACH || to_end < VECTOR_WIDTH + CHANNELS;
#pragma unroll
  for (int i = 0; i < HALO_LOADS; ++i) {
    if (!pixels.loads_left) pixels.columns.left[i] = pixels.columns.right[i];
  }
  return pixels;
}

inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  __global const STORED *start = row_to_read(pixels.image, row);
  loaded_t loaded;
  loaded.own.words = load_words(start + pixels.columns.column, 0);
  // Whatever is not loaded: NVIDIA's compiler of CUDA would else branch around loads.
#pragma unroll
  for (int i = 0; i < HALO; ++i) loaded.left.at[i] = loaded.right.at[i] = 0;
  if (pixels.loads_left | pixels.loads_right) {
#pragma unroll
    for (int i = 0; i < HALO_LOADS; ++i) loaded.left.load[i] = LOAD_AS(HALO_LOAD, start + pixels.columns.left[i]);
  }
  if (pixels.loads_left & pixels.loads_right) {
#pragma unroll
    for (int i = 0; i < HALO_LOADS; ++i) loaded.right.load[i] = LOAD_AS(HALO_LOAD, start + pixels.columns.right[i]);
  }
  return loaded;
}

// Every work-item of the sub-group takes part.
inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  shared_t own, before, after;
  own.words = loaded.own.words;
#pragma unroll
  for (int i = 0; i < HALO_WORDS; ++i) {
    const int last = SHARED_WORDS - 1 - i;
    before.word[last] = shuffled_up(own.word[last], REACH, 0xffffffffu);
    after.word[i] = shuffled_down(own.word[i], REACH, 0xffffffffu);
  }
  if (!(pixels.loads_left & pixels.loads_right)) loaded.right = loaded.left;
#pragma unroll
  for (int i = 0; i < HALO; ++i) {
    if (!pixels.loads_left) loaded.left.at[i] = before.at[VECTOR_WIDTH - HALO + i];
    if (!pixels.loads_right) loaded.right.at[i] = after.at[i];
  }
  return window_of(pixels.image, pixels.columns, row, loaded);
}
