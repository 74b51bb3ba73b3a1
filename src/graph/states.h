/* states.h - what a model keeps from one run to the next: inputs that come back as outputs.
 *
 * A cache of keys and values comes in as the past and goes out as the present, longer or changed;
 * so do the hidden states of recurrences and windows of convolutions. The runtime keeps such a
 * tensor where it is between runs, beside the weights.
 */
#ifndef CLV_GRAPH_STATES_H
#define CLV_GRAPH_STATES_H

#include "graph/types.h"

typedef struct {
    clv_tensor in, out; /* in: CLV_NO_TENSOR only of what first_caches.h adds */
    int32_t positions; /* the axis along which positions of a sequence lie; -1: there is none, or it
                          is not known */
} clv_state;

typedef struct clv_states {
    int32_t n;
    const clv_state *at; /* in the order of the graph's inputs; each tensor in one state at most */
    const int32_t *of_out; /* n_tensors: the state whose output it is; -1 */
} clv_states;

/* The states of a graph: an input's content reaches an output of its type, through operators that
 * keep all of it (concatenations, scatters, views, attention with a past, recurrences); in one
 * dimension the output may be larger. Lives in the arena; CLV_ENOMEM. O(operators + edges); O(1)
 * where types has them. */
clv_status clv_states_find(const clv_types *types, clv_arena *arena, clv_states *ret,
                           clv_error *err);

/* How many sequences a run has: the leading dimension of the first input that has two or more; open
 * where that is, or there is none. O(inputs). */
clv_dim clv_sequences(const clv_types *types);

/* Bytes of a state as it goes out: in all; -1: a dimension is open. */
int64_t clv_state_bytes(const clv_types *types, const clv_state *state);
/* The same for each position of one sequence: without the axis of positions, and without the first
 * one that is as large as there are sequences. 0: it has no axis of positions; -1: another
 * dimension is open. O(rank). */
int64_t clv_state_token_bytes(const clv_types *types, const clv_state *state, clv_dim sequences);

/* Positions of all sequences that the states hold as they go out; 0: none has any, they differ, or
 * a dimension is open. O(states). */
int64_t clv_states_tokens(const clv_types *types, const clv_states *states);

#endif
