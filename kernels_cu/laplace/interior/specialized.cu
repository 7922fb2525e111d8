// Tiles whose results need nothing from outside the image run code that handles no border.

#define INTERIOR_DIFFERS 1
#define IS_INTERIOR(image) image.is_interior
