// How an accumulator keeps an extreme of many elements. Where a minimum that keeps NaN would take three instructions
// (TRACKS_NAN), the extremes are of the numbers alone, and one test of two elements tells whether there was a NaN.

#if TRACKS_NAN
#define LESSER_TRACKED(x, kept) fmin(x, kept)
#define GREATER_TRACKED(x, kept) fmax(x, kept)
#define NAN_TRACKED bool has_nan;
#define NO_NAN_YET(accumulator) accumulator.has_nan = false
#define TRACK_NAN(accumulator, vector) accumulator.has_nan |= has_nan(vector)
// The extreme of one component: NaN in the first stands for all.
#define WITH_NAN(accumulator, at, extreme) (at == 0 && accumulator.has_nan ? (ELEMENT)(NAN) : (extreme))

inline bool has_nan(VECTOR_OF(ELEMENT) vector) {
  bool found = false;
#pragma unroll
  for (int at = 0; at < VECTOR_WIDTH; at += 2) {
    const ELEMENT x = COMPONENT_AT(ELEMENT, vector, at);
    const ELEMENT y = COMPONENT_AT(ELEMENT, vector, at + 1 < VECTOR_WIDTH ? at + 1 : at);
    found |= !((x <= y) | (x > y));
  }
  return found;
}
#else
#define LESSER_TRACKED(x, kept) LESSER(x, kept)
#define GREATER_TRACKED(x, kept) GREATER(x, kept)
#define NAN_TRACKED
#define NO_NAN_YET(accumulator)
#define TRACK_NAN(accumulator, vector)
#define WITH_NAN(accumulator, at, extreme) (extreme)
#endif
