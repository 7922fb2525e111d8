// An empty kernel, launched in the geometry of another kernel: what a launch costs without any work.

__kernel void empty(__global const uint *source) {
}
