// Comparison by operators. The first NaN stays, as in NumPy: x != x lets it in, and no element is less than it.

#define TRACKS_NAN 0

#if ELEMENT_IS_FLOAT
#define LESSER(x, kept) ((((x) < (kept)) | ((x) != (x))) ? (x) : (kept))
#define GREATER(x, kept) ((((x) > (kept)) | ((x) != (x))) ? (x) : (kept))
#else
#define LESSER(x, kept) (((x) < (kept)) ? (x) : (kept))
#define GREATER(x, kept) (((x) > (kept)) ? (x) : (kept))
#endif
