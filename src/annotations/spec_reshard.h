/* spec_reshard.h - the collectives that bring a tensor from one sharding spec to another.
 *
 * Specs name devices, collectives run along the axes of a mesh: a mesh of up to three axes is
 * looked for on which both specs are layouts, and the resharder finds the steps. What is cheapest
 * depends on the links, which a model does not describe: all are taken to be alike.
 */
#ifndef CLV_ANNOTATIONS_SPEC_RESHARD_H
#define CLV_ANNOTATIONS_SPEC_RESHARD_H

#include "explain/shard_list.h"
#include "notation/spec_shards.h"
#include "sharding/layout.h"

/* One thread at a time. The meshes of a number of devices, once made, are kept in the arena. */
typedef struct clv_spec_resharder clv_spec_resharder;
clv_status clv_spec_resharder_new(clv_arena *arena, clv_spec_resharder **ret, clv_error *err);

typedef struct {
    const clv_type *type;          /* of numbers only */
    const clv_sharding_spec *from; /* NULL: whole on all devices that it goes to */
    bool summands; /* from is of summands: with a dimension more, the first (output_spec.h) */
    int64_t n_summands;
    clv_reduce reduce;
    const clv_sharding_spec *to;
    const clv_shards *to_shards;
} clv_spec_reshard_request;

/* The steps; none where nothing is to be done. Where the specs are no layouts of one mesh, devices
 * fetch their parts from each other: one step, "point-to-point". O(meshes * layouts * devices) and
 * the resharder. */
clv_status clv_spec_reshard(clv_spec_resharder *resharder, const clv_spec_reshard_request *req,
                            clv_arena *arena, const clv_shard_step **ret, int32_t *ret_n,
                            clv_error *err);

#endif
