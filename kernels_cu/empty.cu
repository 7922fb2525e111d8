// An empty kernel, launched in the geometry of another kernel: what a launch costs without any work.

extern "C" __global__ void empty(const uint *source) {
}
