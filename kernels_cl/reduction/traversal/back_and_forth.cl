// Every second call reads the source from its end to its front: it begins with what the call before has left in the
// caches, where a call that goes forward would push out each line before it comes to it.

#define TRAVERSAL_PARAMETERS , const uint backwards
#define TRAVERSAL_LOCALS                       \
  const ulong way = backwards ? (ulong)-1 : 1; \
  const ulong origin = backwards ? vectors - 1 : 0;
#define AT(index) (origin + (index) * way)
