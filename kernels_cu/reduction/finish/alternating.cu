// Each group combines its partial result into the answer by atomic operations whose results are not needed, and one
// group resets the spare answer for the next call: the buffers alternate from call to call. There is no ticket, no
// fence, and no group waits for another; the call ends with the last atomic.

#define FINISH_PARAMETERS , partial_t *spare
#define FINISH_ARGUMENTS , spare
#define FINISH_LOCALS

__device__ inline void combine_groups(partial_t *partials, partial_t mine, partial_t *scratch,
                                      uint local_id FINISH_PARAMETERS) {
  if (local_id != 0) return;
  combine_into(partials, mine);
  if (blockIdx.x == 0) *spare = identity();
}
