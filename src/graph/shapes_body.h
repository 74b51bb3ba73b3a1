/* shapes_body.h - shape rules of operators with bodies: If, Loop, Scan, and whole generation loops.
 *
 * What a loop carries must have one type for all its rounds. The body is first inferred with the
 * types that go in; where another type comes out, the body is inferred again with what is true of
 * both, until nothing changes. Each time something is forgotten, so it ends; a body that forgets
 * one dimension at a time is cut short by forgetting all of them.
 */
#ifndef CLV_GRAPH_SHAPES_BODY_H
#define CLV_GRAPH_SHAPES_BODY_H

#include "graph/rule.h"

clv_shape_rule clv_shape_if; /* the branch that is taken, or what is true of both */
clv_shape_rule clv_shape_loop;
clv_shape_rule clv_shape_scan; /* in version 8 dimension 0 is a batch that the body does not see */

/* Generation: inputs are ids [B,S], the longest length, the shortest, beams, sequences to return.
 */
clv_shape_rule clv_shape_beam_search;
clv_shape_rule clv_shape_greedy_search;

#endif
