// The 3x3 Laplace filter: a work-item computes VECTOR_WIDTH elements of ROWS_PER_ITEM rows. It uses, of the files
// before it:
//   image_t             a source with its height, row length and pitch (window)
//   MASK_PARAMETERS, MASK_ARGUMENTS   what the mask's weights add to parameters and arguments (mask_memory/)
//   SOURCE, MEMORY_OF   the source, and its memory where it is memory (pixels/)
//   PIXELS_LOCALS, PIXELS_ARGUMENTS   what the pixels need of local memory, if any (pixels/)
//   SHARE_PIXELS        has the whole group read what its items share, if anything (pixels/)
//   ROW_END_DIFFERS     whether the last items of a row are compiled separately (pixels/)
//   ITEMS_TOGETHER      how many items along a row take part in all that each of them does (pixels/)
//   filter_rows         computes and stores a work-item's results (scheme/, by stencil/ and results)

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void laplace(SOURCE source, __global STORED *restrict results, const uint height,
             const uint row_elements, const uint pitch MASK_PARAMETERS) {
  PIXELS_LOCALS
  const uint column = (get_group_id(0) * GROUP_WIDTH + get_local_id(0)) * VECTOR_WIDTH;
  const uint top = (get_group_id(1) * GROUP_HEIGHT + get_local_id(1)) * ROWS_PER_ITEM;
  SHARE_PIXELS(column, top);
  const uint first = column - get_local_id(0) % ITEMS_TOGETHER * VECTOR_WIDTH;
  if (first >= row_elements || top >= height) return;
  image_t image;
  image.source = MEMORY_OF(source);
  image.height = height;
  image.row_elements = row_elements;
  image.pitch = pitch;
#if ROW_END_DIFFERS
  // filter_rows is compiled twice: only the last item of a row, where the row ends inside its vector, handles a border
  // inside the vector, and only where the row ends inside their elements do items that go together handle its end.
  if (first + ITEMS_TOGETHER * VECTOR_WIDTH > row_elements) {
    filter_rows(image, results, column, row_elements - column, top PIXELS_ARGUMENTS MASK_ARGUMENTS);
    return;
  }
#endif
  filter_rows(image, results, column, ITEMS_TOGETHER * VECTOR_WIDTH, top PIXELS_ARGUMENTS MASK_ARGUMENTS);
}
