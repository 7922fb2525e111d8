// A sum adds the elements' magnitudes. Of unsigned elements only zero is negated.
#define TERM(value) (((value) > (ELEMENT)0) ? (value) : -(value))
#define TERM_IS_PLAIN 0
#define TERM_GROWS 0
