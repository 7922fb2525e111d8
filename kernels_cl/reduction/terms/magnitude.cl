// A sum adds what the elements are without their sign.

#ifndef ELEMENT
#error "ELEMENT is not defined"
#endif
#ifndef ELEMENT_IS_FLOAT
#error "ELEMENT_IS_FLOAT is not defined"
#endif
#ifndef LOWEST
#error "LOWEST is not defined"
#endif

#define WITHOUT_SIGN(value) (((value) < (ELEMENT)0) ? -(value) : (value))
#if ELEMENT_IS_FLOAT
#define TERM(value) WITHOUT_SIGN(value)
#elif LOWEST < 0
#define TERM(value) WITHOUT_SIGN(value)
#else
#define TERM(value) (value)
#endif
#define TERM_GROWS 0
