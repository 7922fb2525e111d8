// All tiles run the same code.

#define INTERIOR_DIFFERS 0
#define IS_INTERIOR(image) false
