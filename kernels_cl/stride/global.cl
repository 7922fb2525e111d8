// Which vectors a work-item reads: every vector at a distance of the grid's size; neighbours read neighbouring vectors
// (pcl: Global-Stride).

// start: where the vectors of all work-items begin.
typedef struct {
  ulong start, first, end, step;
} range_t;

inline range_t vectors_of_item(ulong vectors, uint group, uint local_id) {
  range_t range;
  range.start = 0;
  range.first = (ulong)group * GROUP_SIZE + local_id;
  OPAQUE_INDEX(range.first);
  range.end = vectors;
  range.step = (ulong)get_num_groups(0) * GROUP_SIZE;
  return range;
}
