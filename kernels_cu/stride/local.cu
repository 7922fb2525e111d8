// Which vectors a work-item reads: every vector at a distance of the group's size within the group's contiguous chunk
// (pcl: Local-Stride).

// start: where the group's chunk begins.
typedef struct {
  ulong start, first, end, step;
} range_t;

__device__ inline range_t vectors_of_item(ulong vectors, uint group, uint local_id) {
  const ulong chunk = (vectors + gridDim.x - 1) / gridDim.x;
  const ulong start = chunk * group;
  range_t range;
  range.start = start;
  range.first = start + local_id;
  OPAQUE_INDEX(range.first);
  range.end = start + chunk < vectors ? start + chunk : vectors;
  range.step = GROUP_SIZE;
  return range;
}
