// A sum adds what the elements are without their sign. Of unsigned ones only zero takes the other way.
#define TERM(value) (((value) > (ELEMENT)0) ? (value) : -(value))
#define TERM_GROWS 0
