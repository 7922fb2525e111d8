// The largest element.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef KEPT
#error "KEPT is not defined"
#endif
#ifndef LOWEST
#error "LOWEST is not defined"
#endif

// What a work-item, a group, a launch hands on.
typedef struct {
  KEPT highest;
} partial_t;

inline partial_t lifted(ELEMENT element, ulong position) {
  partial_t partial;
  partial.highest = element;
  return partial;
}

inline partial_t none(void) {
  partial_t partial;
  partial.highest = LOWEST;
  return partial;
}

inline partial_t combined(partial_t a, partial_t b) {
  a.highest = GREATER(b.highest, a.highest);
  return a;
}
