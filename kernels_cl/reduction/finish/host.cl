// Each group leaves its partial result, for the host or another launch to merge.

#define FINISH_PARAMETERS
#define FINISH_ARGUMENTS
#define FINISH_LOCALS

inline void finish(__global partial_t *partials, partial_t mine, __local partial_t *scratch,
                   uint local_id FINISH_PARAMETERS) {
  if (local_id == 0) partials[get_group_id(0)] = mine;
}
