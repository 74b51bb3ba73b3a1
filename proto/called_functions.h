/* called_functions.h - which functions of its source a new model needs. */
#ifndef CLV_PROTO_CALLED_FUNCTIONS_H
#define CLV_PROTO_CALLED_FUNCTIONS_H

#include "proto/new_model.h"

/* For each function of the source: does a node of m call it, or a body of one, or another function
 * that is called? New nodes, and copied ones of another type, call all functions of their type and
 * domain, whatever the overload. Precondition: sources of nodes are of the model. O(operators that
 * are reached + functions), expected. */
clv_status clv_called_functions(const clv_new_model *m, clv_arena *arena, bool **ret,
                                clv_error *err);

#endif
