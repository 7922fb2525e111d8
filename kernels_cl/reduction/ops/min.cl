// The smallest element.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef KEPT
#error "KEPT is not defined"
#endif
#ifndef HIGHEST
#error "HIGHEST is not defined"
#endif

// What a work-item, a group, a launch hands on.
typedef struct {
  KEPT lowest;
} partial_t;

inline partial_t lifted(ELEMENT element, ulong position) {
  partial_t partial;
  partial.lowest = element;
  return partial;
}

inline partial_t none(void) {
  partial_t partial;
  partial.lowest = HIGHEST;
  return partial;
}

inline partial_t combined(partial_t a, partial_t b) {
  a.lowest = LESSER(b.lowest, a.lowest);
  return a;
}
