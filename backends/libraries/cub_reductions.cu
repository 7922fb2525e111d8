// CUB's device-wide reductions of one element type, as C functions that the backend calls through ctypes.
//
// Compiled with -DELEMENT=... (type of the elements), -DTOTAL=... (type of their sum and product) and -DNARROW=... (the
// type that a program adds them in which does not widen). As with every function of CUB, a call without scratch memory
// says only how many bytes of it are needed.
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#include <cuda/std/limits>

struct pair_t {
  ELEMENT lowest, highest;
};

struct pair_of {
  __host__ __device__ pair_t operator()(ELEMENT x) const { return {x, x}; }
};

struct merge_pairs {
  // CUB begins with op(nothing, pair): b is taken where neither is less, so that NaN does not leave the answer nothing.
  __host__ __device__ pair_t operator()(pair_t a, pair_t b) const {
    return {a.lowest < b.lowest ? a.lowest : b.lowest, b.highest < a.highest ? a.highest : b.highest};
  }
};

template <typename count_t> struct one_if_nonzero {
  __host__ __device__ count_t operator()(ELEMENT x) const { return x != 0; }
};

using limits = cuda::std::numeric_limits<ELEMENT>;

static ELEMENT above_all() { return limits::has_infinity ? limits::infinity() : limits::max(); }
static ELEMENT below_all() { return limits::has_infinity ? -limits::infinity() : limits::lowest(); }

#define ARGUMENTS(answer_t)                                                                                 \
  void *scratch, size_t *scratch_bytes, const ELEMENT *source, answer_t *answer, unsigned long long length, \
      cudaStream_t stream

template <typename count_t> static int count_nonzero(ARGUMENTS(count_t)) {
  return cub::DeviceReduce::TransformReduce(scratch, *scratch_bytes, source, answer, length,
                                            cuda::std::plus<count_t>{}, one_if_nonzero<count_t>{}, count_t{}, stream);
}

extern "C" {

int reduce_min(ARGUMENTS(ELEMENT)) {
  return cub::DeviceReduce::Min(scratch, *scratch_bytes, source, answer, length, stream);
}

int reduce_max(ARGUMENTS(ELEMENT)) {
  return cub::DeviceReduce::Max(scratch, *scratch_bytes, source, answer, length, stream);
}

int reduce_sum(ARGUMENTS(TOTAL)) {
  return cub::DeviceReduce::Sum(scratch, *scratch_bytes, source, answer, length, stream);
}

int reduce_narrow_sum(ARGUMENTS(NARROW)) {
  return cub::DeviceReduce::Sum(scratch, *scratch_bytes, source, answer, length, stream);
}

int reduce_product(ARGUMENTS(TOTAL)) {
  return cub::DeviceReduce::Reduce(scratch, *scratch_bytes, source, answer, length, cuda::std::multiplies<TOTAL>{},
                                   static_cast<TOTAL>(1), stream);
}

int reduce_minmax(ARGUMENTS(pair_t)) {
  const pair_t nothing = {above_all(), below_all()};
  return cub::DeviceReduce::TransformReduce(scratch, *scratch_bytes, source, answer, length, merge_pairs{},
                                            pair_of{}, nothing, stream);
}

int reduce_count_nonzero(ARGUMENTS(unsigned int)) {
  return count_nonzero(scratch, scratch_bytes, source, answer, length, stream);
}

// Of 2^32 elements or more, whose count may need 64 bits, which take more instructions.
int reduce_long_count_nonzero(ARGUMENTS(unsigned long long)) {
  return count_nonzero(scratch, scratch_bytes, source, answer, length, stream);
}
}
