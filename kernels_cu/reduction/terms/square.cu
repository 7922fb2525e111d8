// A sum adds the elements' squares, which have twice their bits.
#define TERM(value) ((value) * (value))
#define TERM_IS_PLAIN 0
#define TERM_GROWS 1
