// A work-item reads all that it reads in one go: there is no loop over segments, and nothing to combine.

#define SEGMENT_LOCALS
#define EACH_SEGMENT(whole)
#define SEGMENT_OF(whole) (whole)
#define KEEP_SEGMENT(partial)
#define ALL_SEGMENTS(partial) (partial)
