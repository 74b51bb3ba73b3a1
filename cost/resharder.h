/* resharder.h - the cheapest ways between layouts, for any tensor on one mesh.
 *
 * What is found for a shape is kept, so that the thousandth tensor of a shape costs a look-up.
 */
#ifndef CLV_COST_RESHARDER_H
#define CLV_COST_RESHARDER_H

#include "cost/reshard.h"

/* One thread at a time. */
typedef struct clv_resharder clv_resharder;

/* Mesh and cluster must live as long. options: as in clv_comms_make(). */
clv_status clv_resharder_new(const clv_mesh *mesh, const clv_cluster *cluster,
                             const clv_comm_options *options, clv_arena *arena, clv_resharder **ret,
                             clv_error *err);

/* A tensor of that type comes from one layout to another. */
typedef struct {
    const clv_type *type;
    const clv_layout *from, *to;
} clv_relayout;

/* What knows the ways of a tensor between two layouts; NULL where it can only be copied, or the
 * layouts are equal. */
clv_status clv_resharder_find(clv_resharder *r, const clv_relayout *move, clv_reshard **ret,
                              clv_error *err);
/* Between such layouts, all ways of a tensor are known to one. */
bool clv_resharder_is_plain(const clv_layout *layout);

/* As clv_reshard_ns() and clv_reshard_chain(); 0 and no steps for what can only be copied. */
clv_status clv_resharder_ns(clv_resharder *r, const clv_relayout *move, int64_t *ret,
                            clv_error *err);
clv_status clv_resharder_chain(clv_resharder *r, const clv_relayout *move, clv_arena *arena,
                               clv_chain *ret, clv_error *err);

#endif
