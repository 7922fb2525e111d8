// Reduces a work-group by atomics on words of local memory: two barriers, whatever the size of the group, and no text
// for one vendor's compiler.

inline partial_t reduce_group(partial_t mine, __local partial_t *scratch, uint local_id) {
#if GROUP_SIZE > 1
  __local uint *const words = (__local uint *)scratch;
  // The same work-item writes and reads the words, so that a next use needs no further barrier.
  if (local_id == 0) empty_words(words);
  barrier(CLK_LOCAL_MEM_FENCE);
  combine_into_words(words, mine);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (local_id == 0) mine = partial_of_words(words);
#endif
  return mine;
}
