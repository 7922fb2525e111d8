// Each group combines its partial result into one in memory by atomics; the group that takes the last ticket copies it
// to the answer and resets it (yan2011: atomics; pcl: an atomic counter).

#define FINISH_PARAMETERS , uint *tickets, partial_t *combined
#define FINISH_ARGUMENTS , tickets, combined
#define FINISH_LOCALS

__device__ inline void combine_groups(partial_t *partials, partial_t mine, partial_t *scratch,
                                      uint local_id FINISH_PARAMETERS) {
  if (local_id != 0) return;
  combine_into(combined, mine);
  if (!takes_last_ticket(tickets, gridDim.x)) return;
  *partials = *combined;
  *combined = identity();
}
