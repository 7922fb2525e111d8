// How many elements are not zero; NaN is not.

// A partial result: of a work-item, a group or a launch.
typedef struct {
  ulong count;
} partial_t;

inline partial_t make_partial(ELEMENT element, ulong position) {
  partial_t partial;
  partial.count = element != 0;
  return partial;
}

inline partial_t identity(void) {
  partial_t partial;
  partial.count = 0;
  return partial;
}

inline partial_t combine(partial_t a, partial_t b) {
  a.count += b.count;
  return a;
}
