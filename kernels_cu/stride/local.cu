// Which vectors a work-item reads: those of its group's contiguous chunk, striding by the group (pcl: Local-Stride).

typedef struct {
  ulong first, end, step;
} range_t;

__device__ inline range_t vectors_of_item(ulong vectors, uint local_id) {
  const ulong chunk = (vectors + gridDim.x - 1) / gridDim.x;
  const ulong start = chunk * blockIdx.x;
  range_t range;
  range.first = start + local_id;
  AS_ONE(range.first);
  range.end = start + chunk < vectors ? start + chunk : vectors;
  range.step = GROUP_SIZE;
  return range;
}
