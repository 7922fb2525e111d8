// Every call reads the source from its front to its end.

#define TRAVERSAL_PARAMETERS
#define TRAVERSAL_LOCALS(type)
#define GROUP_AT(group) (group)
#define AT(index) (index)

// A reduction reads all in one segment.
#define SEGMENT_LOCALS
#define EACH_SEGMENT(whole)
#define SEGMENT_OF(whole) (whole)
#define KEEP_SEGMENT(partial)
#define ALL_SEGMENTS(partial) (partial)
