// Each group combines its partial result into one in memory by atomics; the group that takes the last ticket copies it
// to the answer and resets it (yan2011: atomics; pcl: an atomic counter).

#define FINISH_PARAMETERS , __global uint *tickets, __global partial_t *combined
#define FINISH_ARGUMENTS , tickets, combined
#define FINISH_LOCALS

inline void combine_groups(__global partial_t *partials, partial_t mine, __local partial_t *scratch,
                           uint local_id FINISH_PARAMETERS) {
  if (local_id != 0) return;
  combine_into(combined, mine);
  if (!takes_last_ticket(tickets, get_num_groups(0))) return;
  *partials = *combined;
  *combined = identity();
}
