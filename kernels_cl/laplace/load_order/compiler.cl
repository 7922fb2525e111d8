// The compiler decides when rows are loaded.

#define ROWS_ISSUED_FENCE()
