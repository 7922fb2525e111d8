// A sum adds the elements themselves.
#define TERM(value) (value)
#define TERM_IS_PLAIN 1
#define TERM_GROWS 0
