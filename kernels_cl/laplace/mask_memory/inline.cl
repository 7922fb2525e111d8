// The mask's weights are numbers in the instructions.

#define WEIGHT(at) ((VALUE)((at) == 4 ? CENTRE : (at) % 2 ? EDGE : CORNER))
#define MASK_PARAMETERS
#define MASK_ARGUMENTS
