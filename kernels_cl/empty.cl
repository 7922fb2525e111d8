// Nothing, in the geometry of another kernel: what a launch costs before it has done any work.

__kernel void empty(__global const uint *source) {
}
