// The reduction kernel: a work-item accumulates its part of the source, a group reduces its work-items, then the
// groups are combined. It uses, of the files before it:
//   vectors_of_item     range_t, the vectors that a work-item reads (stride/)
//   GROUP_AT, AT        which part a group has in this call, and where a vector of it lies (traversal/), with what
//                       TRAVERSAL_PARAMETERS, TRAVERSAL_LOCALS and SEGMENT_LOCALS name
//   EACH_SEGMENT, SEGMENT_OF, KEEP_SEGMENT, ALL_SEGMENTS   the loop over its segments, where it is read so (likewise)
//   SOURCE, LOADED, LOAD, load_element   the source and one load from it (storage/, packing/)
//   accumulator_t, empty_accumulator, accumulate   what a work-item keeps, and its update by one load (packing/*/)
//   ACCUMULATES_BATCHES, accumulate_batch   whether, and how, all loads in flight are added at once (packing/*/)
//   COMPONENTS, component_partial   the partial results that an accumulator holds, and one of them (packing/*/)
//   partial_t, make_partial, combine   a partial result: of an element, and of two of its kind (ops/)
//   located             corrects positions once for a group, where FINDS_POSITIONS (packing/packed/minmaxloc)
//   reduce_group        the partial result of a group, in its first work-item (tree/)
//   combine_groups      makes one result of the groups' (finish/), with the further parameters, arguments and local
//                       variables that FINISH_PARAMETERS, FINISH_ARGUMENTS and FINISH_LOCALS name

// differs: CUDA bounds registers in the text; NVIDIA's OpenCL by an option, and only where no group size is declared.
#if MOST_REGISTERS
#define GROUP_BOUND __maxnreg__(MOST_REGISTERS)
#else
#define GROUP_BOUND __launch_bounds__(GROUP_SIZE)
#endif
// end differs

extern "C" __global__ GROUP_BOUND
void reduce(SOURCE source, const ulong length TRAVERSAL_PARAMETERS,
            partial_t *__restrict__ partials FINISH_PARAMETERS) {
  __shared__ partial_t of_group[SCRATCH_PARTIALS];
  partial_t *const scratch = OPAQUE_SHARED(partial_t, of_group);
  FINISH_LOCALS
  SEGMENT_LOCALS
  const uint local_id = threadIdx.x;
  const ulong vectors = length / VECTOR_WIDTH;
  const range_t whole = vectors_of_item(vectors, GROUP_AT(blockIdx.x), local_id);
  accumulator_t accumulator;
  partial_t mine;
  EACH_SEGMENT(whole) {
    const range_t range = SEGMENT_OF(whole);
    TRAVERSAL_LOCALS(ulong)
    accumulator = empty_accumulator();
    ulong i = range.first;
    for (; i + (LOADS_IN_FLIGHT - 1) * range.step < range.end; i += LOADS_IN_FLIGHT * range.step) {
      LOADED loaded[LOADS_IN_FLIGHT];
#pragma unroll
      for (int k = 0; k < LOADS_IN_FLIGHT; ++k) loaded[k] = LOAD(source, AT(i + k * range.step));
      LOADS_ISSUED_FENCE();
#if ACCUMULATES_BATCHES
      accumulate_batch(&accumulator, loaded, source, i, range.step);
#else
#pragma unroll
      for (int k = 0; k < LOADS_IN_FLIGHT; ++k) {
        accumulator = accumulate(accumulator, loaded[k], AT(i + k * range.step) * VECTOR_WIDTH);
      }
#endif
    }
    // The remaining vectors, fewer than LOADS_IN_FLIGHT: their loads are issued together, too.
    if (i < range.end) {
      LOADED loaded[LOADS_IN_FLIGHT];
#pragma unroll
      for (int k = 0; k < LOADS_IN_FLIGHT - 1; ++k) {
        if (i + k * range.step < range.end) loaded[k] = LOAD(source, AT(i + k * range.step));
      }
      LOADS_ISSUED_FENCE();
#pragma unroll
      for (int k = 0; k < LOADS_IN_FLIGHT - 1; ++k) {
        if (i + k * range.step < range.end) {
          KEEP_BRANCH();
          accumulator = accumulate(accumulator, loaded[k], AT(i + k * range.step) * VECTOR_WIDTH);
        }
      }
    }

    mine = component_partial(accumulator, 0);
#pragma unroll
    for (int at = 1; at < COMPONENTS; ++at) mine = combine(mine, component_partial(accumulator, at));
    KEEP_SEGMENT(mine)
  }
  mine = ALL_SEGMENTS(mine);
  // The elements after the last whole vector, fewer than VECTOR_WIDTH, are distributed over the whole grid.
  const ulong global_id = (ulong)blockIdx.x * GROUP_SIZE + local_id;
  const ulong step = (ulong)gridDim.x * GROUP_SIZE;
  for (ulong rest = vectors * VECTOR_WIDTH + global_id; rest < length; rest += step) {
    mine = combine(mine, make_partial(load_element(source, rest), rest));
  }
  mine = reduce_group(mine, scratch, local_id);
#if FINDS_POSITIONS
  if (local_id == 0) mine = located(mine, source, length);
#endif
  combine_groups(partials, mine, scratch, local_id FINISH_ARGUMENTS);
}
