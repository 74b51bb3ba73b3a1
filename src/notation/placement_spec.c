#include "notation/placement_spec.h"

#include <inttypes.h>
#include <string.h>

#include "graph/graph.h"

/* A copy of spec in the arena. */
static clv_status copy_spec(const clv_placement_spec *spec, clv_arena *arena,
                            const clv_placement_spec **ret, clv_error *err)
{
    clv_placement_spec *own = CLV_NEW(arena, clv_placement_spec);

    if (!own)
        return clv_fail_nomem(err, "placement spec");
    *own = *spec;
    *ret = own;
    return CLV_OK;
}

static clv_status copy_array(const void *from, size_t n, size_t size, clv_arena *arena, void **ret,
                             clv_error *err)
{
    void *own = clv_arena_take_array(arena, n, size);

    if (!own)
        return clv_fail_nomem(err, "placement spec");
    memcpy(own, from, n * size);
    *ret = own;
    return CLV_OK;
}

clv_status clv_placement_spec_device(const char *text, clv_arena *arena,
                                     const clv_placement_spec **ret, clv_error *err)
{
    clv_placement_spec spec = { .kind = CLV_PLACEMENT_SPEC_DEVICE, .depth = 1, .devices = 1 };

    CLV_TRY(clv_remote_device_parse(text, arena, &spec.device, err));
    return copy_spec(&spec, arena, ret, err);
}

clv_status clv_placement_spec_devices(const char *const *texts, int32_t n, clv_arena *arena,
                                      const clv_placement_spec *const **ret, clv_error *err)
{
    const clv_placement_spec **specs = CLV_NEW_ARRAY(arena, const clv_placement_spec *, n);

    if (!specs)
        return clv_fail_nomem(err, "placement spec");
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(clv_placement_spec_device(texts[i], arena, &specs[i], err));
    *ret = specs;
    return CLV_OK;
}

/* One more spec in this one: its depth and devices count. */
static clv_status count_nested(clv_placement_spec *spec, const clv_placement_spec *part,
                               clv_error *err)
{
    if (part->depth == CLV_PLACEMENT_DEPTH_MAX)
        return clv_fail(err, CLV_EFORMAT, "over %d specs are in each other",
                        CLV_PLACEMENT_DEPTH_MAX);
    if (part->depth >= spec->depth)
        spec->depth = part->depth + 1;
    if (part->devices > CLV_PLACEMENT_PARTS_MAX - spec->devices)
        return clv_fail(err, CLV_EFORMAT, "over %d placements are in one spec",
                        CLV_PLACEMENT_PARTS_MAX);
    spec->devices += part->devices;
    return CLV_OK;
}

/* -- shards -- */

/* Each may be split again, but has no names in it. what: "placement" or "element". */
static clv_status copy_shards(clv_placement_spec *spec, const clv_placement_spec *const *placements,
                              const char *what, clv_arena *arena, clv_error *err)
{
    void *own = NULL;

    spec->depth = 1;
    for (int32_t i = 0; i < spec->n; i++) {
        if (placements[i]->kind == CLV_PLACEMENT_SPEC_COMPOSITE)
            return clv_fail(err, CLV_EFORMAT,
                            "%s %" PRId32 " is a composite, expected a device, a single_split or a "
                            "mesh: a shard has no names in it",
                            what, i);
        CLV_TRY(count_nested(spec, placements[i], err));
    }
    CLV_TRY(copy_array(placements, (size_t)spec->n, sizeof *placements, arena, &own, err));
    spec->at = (const clv_placement_spec *const *)own;
    return CLV_OK;
}

static clv_status copy_dim(clv_placement_dim dim, clv_arena *arena, clv_placement_dim *ret,
                           clv_error *err)
{
    *ret = dim;
    if (!dim.name && (dim.number < -CLV_RANK_MAX || dim.number >= CLV_RANK_MAX))
        return clv_fail(err, CLV_EFORMAT, "dim is %" PRId64 ", expected %d to %d, or a name",
                        dim.number, -CLV_RANK_MAX, CLV_RANK_MAX - 1);
    if (!dim.name)
        return CLV_OK;
    if (!*dim.name)
        return clv_fail(err, CLV_EFORMAT, "dim is an empty name");
    ret->name = clv_arena_printf(arena, "%s", dim.name);
    return ret->name ? CLV_OK : clv_fail_nomem(err, "placement spec");
}

static clv_status copy_sizes(clv_placement_spec *spec, const int64_t *sizes, clv_arena *arena,
                             clv_error *err)
{
    int64_t sum = 0;
    void *own = NULL;

    for (int32_t i = 0; i < spec->n; i++) {
        if (sizes[i] < 0)
            return clv_fail(err, CLV_EFORMAT,
                            "shard_sizes[%" PRId32 "] is %" PRId64 ", expected at least 0", i,
                            sizes[i]);
        if (__builtin_add_overflow(sum, sizes[i], &sum))
            return clv_fail(err, CLV_EFORMAT, "shard_sizes add up to over 2^63");
    }
    CLV_TRY(copy_array(sizes, (size_t)spec->n, sizeof *sizes, arena, &own, err));
    spec->sizes = own;
    return CLV_OK;
}

clv_status clv_placement_spec_single_split(clv_placement_dim dim,
                                           const clv_placement_shards *shards, clv_arena *arena,
                                           const clv_placement_spec **ret, clv_error *err)
{
    const int32_t n = shards->n;
    clv_placement_spec spec = { .kind = CLV_PLACEMENT_SPEC_SPLIT, .n = n };

    if (n < 1 || n > CLV_PLACEMENT_PARTS_MAX)
        return clv_fail(err, CLV_EFORMAT, "there are %" PRId32 " placements, expected 1 to %d", n,
                        CLV_PLACEMENT_PARTS_MAX);
    CLV_TRY(copy_dim(dim, arena, &spec.dim, err));
    CLV_TRY(copy_shards(&spec, shards->at, "placement", arena, err));
    if (shards->sizes)
        CLV_TRY(copy_sizes(&spec, shards->sizes, arena, err));
    return copy_spec(&spec, arena, ret, err);
}

static clv_status copy_shape(clv_placement_spec *spec, const int32_t *shape, clv_arena *arena,
                             clv_error *err)
{
    void *own = NULL;

    if (spec->rank < 1 || spec->rank > CLV_RANK_MAX)
        return clv_fail(err, CLV_EFORMAT, "the mesh has %" PRId32 " dimensions, expected 1 to %d",
                        spec->rank, CLV_RANK_MAX);
    spec->n = 1;
    for (int32_t i = 0; i < spec->rank; i++) {
        if (shape[i] < 1)
            return clv_fail(err, CLV_EFORMAT,
                            "dimension %" PRId32 " of the mesh is %" PRId32 ", expected at least 1",
                            i, shape[i]);
        if (__builtin_mul_overflow(spec->n, shape[i], &spec->n) ||
            spec->n > CLV_PLACEMENT_PARTS_MAX)
            return clv_fail(err, CLV_EFORMAT, "the mesh has over %d elements",
                            CLV_PLACEMENT_PARTS_MAX);
    }
    CLV_TRY(copy_array(shape, (size_t)spec->rank, sizeof *shape, arena, &own, err));
    spec->shape = own;
    return CLV_OK;
}

clv_status clv_placement_spec_mesh(const clv_placement_spec *const *placements, int32_t rank,
                                   const int32_t *shape, clv_arena *arena,
                                   const clv_placement_spec **ret, clv_error *err)
{
    clv_placement_spec spec = { .kind = CLV_PLACEMENT_SPEC_MESH, .rank = rank };

    CLV_TRY(copy_shape(&spec, shape, arena, err));
    CLV_TRY(copy_shards(&spec, placements, "element", arena, err));
    return copy_spec(&spec, arena, ret, err);
}

/* -- names -- */

static bool is_separator(char c) { return c == '.' || c == '/'; }

/* Something between and behind the separators; one in front is as in names of ONNX. */
static clv_status check_name(const char *name, clv_error *err)
{
    bool empty = true;

    for (const char *c = name + is_separator(*name);; c++) {
        if (*c && !is_separator(*c)) {
            empty = false;
            continue;
        }
        if (empty)
            return clv_fail(err, CLV_EFORMAT,
                            "'%.80s' is no name of a tensor or module, expected words with '.' or "
                            "'/' between them",
                            name);
        if (!*c)
            return CLV_OK;
        empty = true;
    }
}

clv_status clv_placement_spec_composite(const clv_placement_entry *entries, int32_t n,
                                        clv_arena *arena, const clv_placement_spec **ret,
                                        clv_error *err)
{
    clv_placement_spec spec = { .kind = CLV_PLACEMENT_SPEC_COMPOSITE, .depth = 1, .n = n };
    clv_placement_entry *own = NULL;

    if (n < 1 || n > CLV_PLACEMENT_PARTS_MAX)
        return clv_fail(err, CLV_EFORMAT, "there are %" PRId32 " names, expected 1 to %d", n,
                        CLV_PLACEMENT_PARTS_MAX);
    own = CLV_NEW_ARRAY(arena, clv_placement_entry, n);
    if (!own)
        return clv_fail_nomem(err, "placement spec");
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(check_name(entries[i].name, err));
        own[i] = (clv_placement_entry){ clv_arena_printf(arena, "%s", entries[i].name),
                                        entries[i].spec };
        if (!own[i].name)
            return clv_fail_nomem(err, "placement spec");
        CLV_TRY(count_nested(&spec, own[i].spec, err));
    }
    spec.entries = own;
    return copy_spec(&spec, arena, ret, err);
}
