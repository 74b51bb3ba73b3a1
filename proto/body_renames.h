/* body_renames.h - what names in the bodies of a copied node become.
 *
 * A body is one scope: a name that it makes is that tensor's inside it, and deeper, wherever in the
 * body it is made. It hides a tensor of that name around it. Runtimes refuse a model that makes a
 * name twice where they come to the one outside first, which may be so in the new graph though it
 * was not in the source: so what a body makes is called otherwise where the new graph has a tensor
 * of that name.
 */
#ifndef CLV_PROTO_BODY_RENAMES_H
#define CLV_PROTO_BODY_RENAMES_H

#include "base/map.h"
#include "proto/message.h"
#include "proto/new_model.h"

typedef struct {
    clv_str outside;  /* what the name becomes where it is of a tensor around the node */
    clv_str inside;   /* and where a body makes it */
    int32_t n_makers; /* bodies that make it, around where the copying is */
} clv_body_rename;

/* Of one node: those that are captured, and those that bodies make and the new graph has too. */
typedef struct {
    clv_map by_name; /* -> into list; what is not in it stays as it is */
    clv_body_rename *list;
    int32_t n, cap;
} clv_body_renames;

/* The names of all tensors of the new graph that nodes, inputs and initialisers make. O(names). */
clv_status clv_new_model_names(const clv_new_model *m, clv_arena *arena, clv_map *ret,
                               clv_error *err);

/* For the bodies of a node that copies an operator of the graph. around: as above. O(tensors of its
 * bodies). */
clv_status clv_body_renames_init(clv_body_renames *names, const clv_new_node *node,
                                 const clv_graph *g, const clv_map *around, clv_arena *arena,
                                 clv_error *err);
/* The copying enters a body, a GraphProto (by 1), or leaves it (by -1). O(fields). */
clv_status clv_body_renames_move(clv_body_renames *names, clv_message body, int32_t by,
                                 clv_error *err);
/* What a name becomes here. O(1). */
clv_str clv_body_renames_get(const clv_body_renames *names, clv_str name);

#endif
