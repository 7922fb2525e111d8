// The masks are symmetric: a row adds the same to the results above and below it, and its left and right neighbours are
// added before they are multiplied.

#define sums_t VECTOR_OF(VALUE)
#define EACH_SUM EACH_COMPONENT
#define AS_SUM(weight) weight
#define CENTRE_TERM(weight, own) (AS_SUM(weight) * (own))
#define results_of_sums results_of
#define operands_t neighbours_t
#define operands_of neighbours_of
