// Comparison by operators. Once a NaN has been met it stays, as in NumPy: it is never less, and x != x lets it in.

#ifndef ELEMENT_IS_FLOAT
#error "ELEMENT_IS_FLOAT is not defined"
#endif

#if ELEMENT_IS_FLOAT
#define LESSER(x, kept) ((((x) < (kept)) | ((x) != (x))) ? (x) : (kept))
#define GREATER(x, kept) ((((x) > (kept)) | ((x) != (x))) ? (x) : (kept))
#else
#define LESSER(x, kept) (((x) < (kept)) ? (x) : (kept))
#define GREATER(x, kept) (((x) > (kept)) ? (x) : (kept))
#endif
