/* placement_spec.h - where the parts of tensors go, in the terms of PyTorch's RFC on model
 * sharding.
 *
 * A placement spec is a device, or a single split (one dimension cut into shards, each with a
 * placement of its own), or a mesh (an array of placements with the rank of the tensor), or a
 * composite (a spec for each of some names of tensors or modules). As a file:
 * docs/formats/placement-spec.md.
 *
 * A shard of a split or a mesh may be split again. A composite stands at the top or in a composite,
 * for a shard has no names in it.
 *
 * Specs are made by the four helpers below, which check what they are given, and never change. They
 * refer to what they are made of, and live in the arena.
 */
#ifndef CLV_NOTATION_PLACEMENT_SPEC_H
#define CLV_NOTATION_PLACEMENT_SPEC_H

#include <stdbool.h>

#include "notation/remote_device.h"

typedef enum {
    CLV_PLACEMENT_SPEC_DEVICE,
    CLV_PLACEMENT_SPEC_SPLIT,
    CLV_PLACEMENT_SPEC_MESH,
    CLV_PLACEMENT_SPEC_COMPOSITE
} clv_placement_spec_kind;

typedef struct clv_placement_spec clv_placement_spec;

/* Of a tensor: a number, from behind where negative, or a name. */
typedef struct {
    const char *name; /* NULL: by number */
    int64_t number;   /* at least -CLV_RANK_MAX, below CLV_RANK_MAX */
} clv_placement_dim;

typedef struct {
    const clv_placement_spec *const *at; /* n, the placement of each shard */
    int32_t n;
    const int64_t *sizes; /* n; NULL: even, as torch.chunk has it (see placement_parts.h) */
} clv_placement_shards;

typedef struct {
    const char *name; /* "net1", "encoder.0.weight"; '/' is as good as '.' */
    const clv_placement_spec *spec;
} clv_placement_entry;

struct clv_placement_spec {
    clv_placement_spec_kind kind;
    int32_t depth;                       /* specs in each other, this one counted */
    int32_t n;                           /* shards, elements of the mesh, or entries */
    int32_t devices;                     /* named in it, each time counted */
    clv_remote_device device;            /* DEVICE */
    clv_placement_dim dim;               /* SPLIT */
    const clv_placement_spec *const *at; /* SPLIT: a shard each; MESH: row-major */
    const int64_t *sizes;                /* SPLIT: n that are to add up to the dimension; or NULL */
    int32_t rank;                        /* MESH */
    const int32_t *shape;                /* MESH: rank entries, their product is n */
    const clv_placement_entry *entries;  /* COMPOSITE */
};

/* Specs in each other: what can be written can be read (a split takes three levels of JSON). */
#define CLV_PLACEMENT_DEPTH_MAX 16
/* Devices that a spec names, each time counted, and names in a composite: more than any machine
 * has, and a limit for hostile files. */
#define CLV_PLACEMENT_PARTS_MAX (1 << 20)

#define CLV_PLACEMENT_DIM(i)    ((clv_placement_dim){ NULL, (i) })
#define CLV_PLACEMENT_NAMED(s)  ((clv_placement_dim){ (s), 0 })

/* -- the helpers; CLV_EFORMAT says what is wrong. Arrays and strings given are copied. -- */

/* "rank:0/cuda:0". */
clv_status clv_placement_spec_device(const char *text, clv_arena *arena,
                                     const clv_placement_spec **ret, clv_error *err);
/* The dimension in so many shards. O(n). */
clv_status clv_placement_spec_single_split(clv_placement_dim dim,
                                           const clv_placement_shards *shards, clv_arena *arena,
                                           const clv_placement_spec **ret, clv_error *err);
/* shape: rank entries, each at least 1; placements: as many as their product, row-major. O(n). */
clv_status clv_placement_spec_mesh(const clv_placement_spec *const *placements, int32_t rank,
                                   const int32_t *shape, clv_arena *arena,
                                   const clv_placement_spec **ret, clv_error *err);
/* Names are not empty, nor are the words between their separators, one of which may be in front.
 * O(entries). */
clv_status clv_placement_spec_composite(const clv_placement_entry *entries, int32_t n,
                                        clv_arena *arena, const clv_placement_spec **ret,
                                        clv_error *err);

/* The specs of n devices, for the two helpers above. */
clv_status clv_placement_spec_devices(const char *const *texts, int32_t n, clv_arena *arena,
                                      const clv_placement_spec *const **ret, clv_error *err);

#endif
