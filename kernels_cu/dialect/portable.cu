// No PTX and no functions of one vendor's compiler: OpenCL C 1.2 with Khronos' extensions, and CUDA C++ as documented.

#define IS_PORTABLE 1
#define HAS_PTX 0
#define HAS_AMDGCN 0
#define OPAQUE_INDEX(index)
#define OPAQUE_SHARED(type, memory) (memory)
#define LOADS_ISSUED_FENCE()
#define KEEP_BRANCH()
