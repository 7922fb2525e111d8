// Vectors of VECTOR_WIDTH elements. EACH_COMPONENT and COMPONENT let one text compute on whole vectors in OpenCL C and
// on single components in CUDA C++. ADD_WIDENED widens the components of a batch's vector and adds them to any
// components of a wider one.

// differs: OpenCL C computes on vectors as a whole, CUDA C++ component by component.
template <typename type>
struct vector_of {
  type component[VECTOR_WIDTH];
};
#define VECTOR_OF(type) vector_of<type>
#define EACH_COMPONENT _Pragma("unroll") for (int component = 0; component < VECTOR_WIDTH; ++component)
#define COMPONENT(vector) ((vector).component[component])
#define ANY(truth) (truth)
#define ONES(type, truth) ((type)(truth))
#define COMPONENT_AT(type, vector, at) ((vector).component[at])
#define CONVERT(type, value) ((type)(value))
#define ADD_WIDENED(type, into, value) EACH_COMPONENT COMPONENT(into) += CONVERT(type, COMPONENT(value))
#define SPLAT(type, value) ((type)(value))
// end differs
