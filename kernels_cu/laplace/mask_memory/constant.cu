// jia2012, constant memory: the mask's weights lie there, row by row.

__constant__ VALUE mask_weights[9] = {CORNER, EDGE, CORNER, EDGE, CENTRE, EDGE, CORNER, EDGE, CORNER};

#define WEIGHT(at) (mask_weights[at])
#define MASK_PARAMETERS
#define MASK_ARGUMENTS
