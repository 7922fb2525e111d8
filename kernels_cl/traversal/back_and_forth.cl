// Every second call has each work-item read its vectors from the last to the first: it begins with what the call before
// has left in the caches, where a call that goes forward would push out each line before it comes to it. A vector is
// read by the same work-item either way, so that it is looked for in the same part of a cache.

// farthest: how far the last vector of the item with the most lies from its first; 0 in a call that goes forward.
#define TRAVERSAL_PARAMETERS , const ulong farthest
#define TRAVERSAL_LOCALS                                                               \
  ulong distance = farthest;                                                           \
  if (range.first + distance >= range.end) distance -= range.step;                     \
  /* The last chunk of all may be far shorter than the others. */                      \
  if (farthest && range.first < range.end && range.first + distance >= range.end)      \
    distance = (range.end - 1 - range.first) / range.step * range.step;                \
  const ulong origin = farthest ? 2 * range.first + distance : 0;                      \
  const ulong way = farthest ? (ulong)-1 : 1;
#define AT(index) (origin + (index) * way)
