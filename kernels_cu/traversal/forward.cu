// Every call reads the source from its front to its end.

#define TRAVERSAL_PARAMETERS
#define TRAVERSAL_LOCALS(type)
#define GROUP_AT(group) (group)
#define AT(index) (index)
