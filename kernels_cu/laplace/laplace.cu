// The 3x3 Laplace filter: a work-item computes VECTOR_WIDTH elements of ROWS_PER_ITEM rows. What the items of a group
// compute together is a tile. With ONE_PART_A_GROUP a group has one tile, else several in turn. It uses, of
// the files before it:
//   image_t, image_of   a source with its height, row length and pitch (window)
//   MASK_PARAMETERS, MASK_ARGUMENTS   what the mask's weights add to parameters and arguments (mask_memory/)
//   SOURCE, MEMORY_OF   the source, and its memory where it is memory (pixels/)
//   PIXELS_LOCALS, PIXELS_PARAMETERS, PIXELS_ARGUMENTS   what the pixels need of local memory, if any (pixels/)
//   SHARE_PIXELS        has the whole group read what its items share, if anything (pixels/)
//   INTERIOR_DIFFERS    whether tiles that meet no border are compiled separately (interior/)
//   ROW_END_DIFFERS     whether the last items of a row are compiled separately (pixels/)
//   AT, GROUP_AT, TRAVERSAL_PARAMETERS, TRAVERSAL_LOCALS   which tile a group takes next in this call (traversal/)
//   ITEMS_TOGETHER      how many items along a row take part in all that each of them does (a macro)
//   filter_rows         computes and stores a work-item's results (scheme/, by stencil/ and results)

// across, down: which tile of the image.
__device__ inline void filter_tile(image_t image, STORED *results, uint across,
                                   uint down PIXELS_PARAMETERS MASK_PARAMETERS) {
  const uint column = (across * GROUP_WIDTH + threadIdx.x) * VECTOR_WIDTH;
  const uint top = (down * GROUP_HEIGHT + threadIdx.y) * ROWS_PER_ITEM;
  SHARE_PIXELS(image, column, top);
  const uint first = column - threadIdx.x % ITEMS_TOGETHER * VECTOR_WIDTH;
  const uint row_elements = image.row_elements;
  if (first >= row_elements || top >= (uint)image.height) return;
#if INTERIOR_DIFFERS
  // The same for all items of the group.
  const uint left = across * GROUP_WIDTH * VECTOR_WIDTH, right = left + GROUP_WIDTH * VECTOR_WIDTH + CHANNELS;
  const uint below = (down + 1) * GROUP_HEIGHT * ROWS_PER_ITEM;
  if (left >= CHANNELS && right <= row_elements && down > 0 && below < (uint)image.height) {
    image_t interior = image;
    interior.is_interior = true;
    filter_rows(interior, results, column, ITEMS_TOGETHER * VECTOR_WIDTH, top PIXELS_ARGUMENTS MASK_ARGUMENTS);
    return;
  }
#endif
#if ROW_END_DIFFERS
  // filter_rows is compiled again: only the last item of a row, where the row ends inside its vector, handles a border
  // inside the vector, and only where the row ends inside their elements do items that go together handle its end.
  if (first + ITEMS_TOGETHER * VECTOR_WIDTH > row_elements) {
    filter_rows(image, results, column, row_elements - column, top PIXELS_ARGUMENTS MASK_ARGUMENTS);
    return;
  }
#endif
  filter_rows(image, results, column, ITEMS_TOGETHER * VECTOR_WIDTH, top PIXELS_ARGUMENTS MASK_ARGUMENTS);
}

// The tiles that a group takes in turn.
typedef struct {
  uint first, end, step;
} tiles_t;

// differs: CUDA bounds registers in the text; NVIDIA's OpenCL by an option, and only where no group size is declared.
#if MOST_REGISTERS
#define GROUP_BOUND __maxnreg__(MOST_REGISTERS)
#else
#define GROUP_BOUND __launch_bounds__(GROUP_WIDTH * GROUP_HEIGHT)
#endif
// end differs

extern "C" __global__ GROUP_BOUND
void laplace(SOURCE source, STORED *__restrict__ results, const uint height,
             const uint row_elements, const uint pitch TRAVERSAL_PARAMETERS MASK_PARAMETERS) {
  PIXELS_LOCALS
  const image_t image = image_of(MEMORY_OF(source), height, row_elements, pitch);
#if !ONE_PART_A_GROUP
  const uint tiles_across = (row_elements - 1) / (GROUP_WIDTH * VECTOR_WIDTH) + 1;
  const uint tiles = tiles_across * ((height - 1) / (GROUP_HEIGHT * ROWS_PER_ITEM) + 1);
  const tiles_t range = {blockIdx.x, tiles, gridDim.x};
  TRAVERSAL_LOCALS(uint)
#pragma unroll 1
  for (uint i = range.first; i < range.end; i += range.step) {
    const uint tile = (uint)AT(i);
    filter_tile(image, results, tile % tiles_across, tile / tiles_across PIXELS_ARGUMENTS MASK_ARGUMENTS);
  }
#else
  filter_tile(image, results, blockIdx.x, GROUP_AT(blockIdx.y) PIXELS_ARGUMENTS MASK_ARGUMENTS);
#endif
}
