// Vectors of VECTOR_WIDTH elements. EACH_LANE and LANE let one text serve whole vectors in OpenCL C and single
// lanes in CUDA C++.

#ifndef VECTOR_WIDTH
#error "VECTOR_WIDTH is not defined"
#endif

// differs: OpenCL C computes on vectors as a whole, CUDA C++ lane by lane.
#define JOIN_EXPANDED(a, b) a##b
#define JOIN(a, b) JOIN_EXPANDED(a, b)
#if VECTOR_WIDTH == 1
#define VECTOR_OF(type) type
#define ANY(truth) (truth)
#define ONES(type, truth) ((type)(truth))
#else
#define VECTOR_OF(type) JOIN(type, VECTOR_WIDTH)
#define ANY(truth) any(truth)
#define ONES(type, truth) CONVERT(type, -(truth))
#endif
#define EACH_LANE
#define LANE(vector) (vector)
#define LANE_AT(type, vector, at) (((const type *)&(vector))[at])
#define CONVERT(type, value) JOIN(convert_, VECTOR_OF(type))(value)
#define SPLAT(type, value) ((VECTOR_OF(type))(value))
// end differs
