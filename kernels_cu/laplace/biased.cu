// Two sums of 16 bits in a word, which instructions for integers add and multiply.

#define AS_SUM(weight) ((uint)weight)

// A negative lower sum borrows 1 from the upper one; results begin with this, so that no sum ends negative.
#define BIAS 0x4000
#define CENTRE_TERM(weight, own) (AS_SUM(weight) * (own) + BIAS * 0x00010001u)
