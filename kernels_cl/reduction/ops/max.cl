// The largest element.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  KEPT highest;
} partial_t;

inline partial_t make_partial(ELEMENT element, ulong position) {
  partial_t partial;
  partial.highest = element;
  return partial;
}

inline partial_t identity(void) {
  partial_t partial;
  partial.highest = LOWEST;
  return partial;
}

inline partial_t combine(partial_t a, partial_t b) {
  a.highest = GREATER(b.highest, a.highest);
  return a;
}
