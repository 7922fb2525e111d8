// A sum adds the elements themselves.
#define TERM(value) (value)
#define TERM_GROWS 0
