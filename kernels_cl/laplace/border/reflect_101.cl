// Pixels outside are those of the image mirrored at its outermost pixel, which is not repeated; a side of one pixel
// mirrors itself.
#define BORDER_IS_CONSTANT 0

inline int before_first(int size) {
  return size > 1 ? 1 : 0;
}

inline int after_last(int size) {
  return size > 1 ? size - 2 : 0;
}
