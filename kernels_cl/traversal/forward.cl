// Every call reads the source from its front to its end.

#define TRAVERSAL_PARAMETERS
#define TRAVERSAL_LOCALS
#define AT(index) (index)
