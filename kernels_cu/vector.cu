// Vectors of VECTOR_WIDTH elements. EACH_LANE and LANE let one text serve whole vectors in OpenCL C and single
// lanes in CUDA C++. ADD_WIDENED adds the lanes of a batch's vector, made wider, to any of those that it goes into.

#ifndef VECTOR_WIDTH
#error "VECTOR_WIDTH is not defined"
#endif

// differs: OpenCL C computes on vectors as a whole, CUDA C++ lane by lane.
template <typename type>
struct vector_of {
  type lane[VECTOR_WIDTH];
};
#define VECTOR_OF(type) vector_of<type>
#define EACH_LANE _Pragma("unroll") for (int lane = 0; lane < VECTOR_WIDTH; ++lane)
#define LANE(vector) ((vector).lane[lane])
#define ANY(truth) (truth)
#define ONES(type, truth) ((type)(truth))
#define LANE_AT(type, vector, at) ((vector).lane[at])
#define CONVERT(type, value) ((type)(value))
#define ADD_WIDENED(type, into, value) EACH_LANE LANE(into) += CONVERT(type, LANE(value))
#define SPLAT(type, value) ((type)(value))
// end differs
