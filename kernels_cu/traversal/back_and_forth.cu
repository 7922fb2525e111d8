// Every second call begins with what the call before has left in the caches, where a call that goes forward would push
// out each line before it comes to it.

#if ONE_PART_A_GROUP
// Each group has one part of the source: every second call gives them the parts from the last to the first, as a device
// runs groups with lower numbers first.

// farthest: the number of the last part; 0 in a call that goes forward.
#define TRAVERSAL_PARAMETERS , const ulong farthest
#define TRAVERSAL_LOCALS(type)
#define GROUP_AT(group) (farthest ? (uint)farthest - (group) : (group))
#define AT(index) (index)
#else
// Every second call has each work-item read its vectors from the last to the first, and each group take its tiles so. A
// vector is read by the same work-item either way, so that it is looked for in the same part of a cache.

// farthest: how far the last vector of the item with the most lies from its first; 0 in a call that goes forward.
#define TRAVERSAL_PARAMETERS , const ulong farthest
// type: that of the places in the range.
#define TRAVERSAL_LOCALS(type)                                                     \
  type distance = (type)farthest;                                                  \
  if (range.first + distance >= range.end) distance -= range.step;                 \
  /* The last chunk of all may be far shorter than the others. */                  \
  if (farthest && range.first < range.end && range.first + distance >= range.end)  \
    distance = (range.end - 1 - range.first) / range.step * range.step;            \
  const type origin = farthest ? 2 * range.first + distance : 0;                   \
  const type way = farthest ? (type)-1 : 1;
#define GROUP_AT(group) (group)
#define AT(index) (origin + (index) * way)
#endif
