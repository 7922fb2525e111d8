// Each group stores its partial result; the host or another launch combines them.

#define FINISH_PARAMETERS
#define FINISH_ARGUMENTS
#define FINISH_LOCALS

inline void combine_groups(__global partial_t *partials, partial_t mine, __local partial_t *scratch,
                           uint local_id FINISH_PARAMETERS) {
  if (local_id == 0) partials[get_group_id(0)] = mine;
}
