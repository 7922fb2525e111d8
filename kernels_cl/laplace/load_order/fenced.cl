// The loads of all rows are issued before the first row is used. NVIDIA's compilers may else wait for two of them
// before they issue the others.

#define ROWS_ISSUED_FENCE() LOADS_ISSUED_FENCE()
