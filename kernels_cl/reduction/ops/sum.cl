// The sum of a term of each element: in integers of 64 bits or in float64.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef TOTAL
#error "TOTAL is not defined"
#endif

// What a work-item, a group, a launch hands on.
typedef struct {
  TOTAL total;
} partial_t;

inline partial_t lifted(ELEMENT element, ulong position) {
  partial_t partial;
  partial.total = TERM((TOTAL)element);
  return partial;
}

inline partial_t none(void) {
  partial_t partial;
  partial.total = 0;
  return partial;
}

inline partial_t combined(partial_t a, partial_t b) {
  a.total += b.total;
  return a;
}
