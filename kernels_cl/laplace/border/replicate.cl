// Pixels outside are the nearest pixel: replicate, and reflect, which is the same for one pixel outside.
#define BORDER_IS_CONSTANT 0

inline int before_first(int size) {
  return 0;
}

inline int after_last(int size) {
  return size - 1;
}
