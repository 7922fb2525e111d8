// Pixels outside are those of the opposite side of the image (jia2012 calls this Reflect).
#define BORDER_IS_CONSTANT 0

inline int before_first(int size) {
  return size - 1;
}

inline int after_last(int size) {
  return 0;
}
