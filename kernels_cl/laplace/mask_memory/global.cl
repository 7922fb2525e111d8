// jia2012, basic form: the mask's weights lie in global memory, row by row, and are read like pixels.

#define WEIGHT(at) LOAD_AS(VALUE, weights + (at))
#define MASK_PARAMETERS , __global const VALUE *restrict weights
#define MASK_ARGUMENTS , weights
