// A group's tile comes into local memory by one copy for each row of it, and its work-items take what they need from
// there. On NVIDIA's GPUs from compute capability 9.0 on these are bulk copies (cp.async.bulk), which no work-item
// carries out and whose end a barrier in local memory counts. Elsewhere the whole group copies.

// copied: NVIDIA's barrier of the copies.
#define PIXELS_LOCALS                               \
  __shared__ words_t tile[TILE_HEIGHT * TILE_VECTORS]; \
  __shared__ ulong copied[1];
#define SOURCE const STORED *__restrict__
#define MEMORY_OF(source) source
#define PIXELS_PARAMETERS , words_t *tile, ulong *copied
#define PIXELS_ARGUMENTS , tile, copied
#define SHARE_PIXELS(image, column, top) copy_tile(image, column, top, tile, copied)
#define ROW_END_DIFFERS LAST_ITEM_DIFFERS
#define ITEMS_TOGETHER 1

typedef tile_pixels_t pixels_t;

typedef fours_t loaded_t;

// The part of a row that a tile needs. before: vectors of the tile that lie before the row's begin.
typedef struct {
  int column, before, vectors;
} row_part_t;

__device__ inline row_part_t row_part_of_tile(image_t image, int column) {
  const int first = column - (int)threadIdx.x * VECTOR_WIDTH;
  const int vectors = (image.row_elements - first - 1) / VECTOR_WIDTH + 1;
  row_part_t part;
  part.before = first == 0 ? 1 : 0;
  part.column = first == 0 ? 0 : first - VECTOR_WIDTH;
  part.vectors = min(vectors, GROUP_WIDTH + 1) + 1 - part.before;
  return part;
}

#if HAS_PTX && COMPUTE_CAPABILITY >= 90
__device__ inline void copy_tile(image_t image, int column, int top, words_t *tile, ulong *copied) {
  const row_part_t part = row_part_of_tile(image, column);
  const int item = threadIdx.y * GROUP_WIDTH + threadIdx.x;
  const int above = first_row_of_tile(top);
  const uint row_bytes = part.vectors * VECTOR_BYTES;
  if (item == 0) {
    // The copies run beside the group's own accesses, and must see that the barrier is ready.
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.proxy.async.shared::cta;" ::"r"(LOCAL_ADDRESS(copied))
                 : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(LOCAL_ADDRESS(copied)),
                 "r"(TILE_HEIGHT * row_bytes)
                 : "memory");
  }
  __syncthreads();
  for (int y = item; y < TILE_HEIGHT; y += GROUP_WIDTH * GROUP_HEIGHT) {
    words_t *to = tile + y * TILE_VECTORS + part.before;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            LOCAL_ADDRESS(to)),
        "l"(row_for_tile(image, above + y) + part.column), "r"(row_bytes), "r"(LOCAL_ADDRESS(copied))
        : "memory");
  }
  uint has_all = 0;
  while (!has_all) {
    asm volatile("{ .reg .pred all; mbarrier.try_wait.parity.shared.b64 all, [%1], 0; selp.u32 %0, 1, 0, all; }"
                 : "=r"(has_all)
                 : "r"(LOCAL_ADDRESS(copied))
                 : "memory");
  }
}
#else
// Every work-item of the group takes part, also one that has no results of its own.
__device__ inline void copy_tile(image_t image, int column, int top, words_t *tile, ulong *copied) {
  const row_part_t part = row_part_of_tile(image, column);
  const int above = first_row_of_tile(top);
// differs: OpenCL C has copies by a whole group; CUDA C++ as documented has none without a header.
  for (int y = threadIdx.y; y < TILE_HEIGHT; y += GROUP_HEIGHT) {
    const STORED *from = row_for_tile(image, above + y) + part.column;
    for (int x = threadIdx.x; x < part.vectors; x += GROUP_WIDTH) {
      tile[y * TILE_VECTORS + part.before + x] = load_words(from, x);
    }
  }
  __syncthreads();
// end differs
}
#endif

__device__ inline pixels_t pixels_of_item(image_t image, int column, int own, int top PIXELS_PARAMETERS) {
  return tile_pixels_of_item(image, column, own, top);
}

__device__ inline loaded_t load_pixels(pixels_t pixels, int row PIXELS_PARAMETERS) {
  return fours_in_tile(pixels, row, tile);
}

__device__ inline window_t window_at(pixels_t pixels, int row, loaded_t loaded) {
  return window_of_fours(pixels.columns, row, loaded);
}
