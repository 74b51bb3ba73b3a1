#include "notation/tile_notation.h"

#include <inttypes.h>

#include "notation/sharding_split.h"

/* A tile has a coordinate along each entry of the pattern. The two orders number tiles differently;
 * all else goes by the row-major number.
 */

const char *clv_tile_order_name(clv_tile_order order)
{
    static const char *const names[] = { "row-major", "printed" };
    return names[order];
}

/* A pattern as long as the tensor has dimensions, and the numbers of its tiles. */
typedef struct {
    int32_t rank;
    int64_t volume;
    int64_t pattern[CLV_RANK_MAX];
    clv_tile_order order;
} grid;

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Does the printed order reach all tiles? status: for one that does not. */
static clv_status check_order(const grid *g, clv_status status, clv_error *err)
{
    for (int32_t i = 0; g->order == CLV_TILES_PRINTED && i < g->rank; i++)
        for (int32_t k = 0; k < i; k++)
            if (gcd(g->pattern[i], g->pattern[k]) > 1)
                return clv_fail(err, status,
                                "the tile pattern has the entries %" PRId64 " and %" PRId64
                                ": the printed order does not reach all its tiles, for which no "
                                "two entries may have a common divisor",
                                g->pattern[k], g->pattern[i]);
    return CLV_OK;
}

/* The entries of a pattern are those of the last dimensions; {1} goes with any. */
static clv_status make_grid(const clv_tiles *tiles, clv_tile_order order, int32_t rank, grid *ret,
                            clv_error *err)
{
    int32_t n = tiles->n_pattern;
    bool scalar = n == 1 && tiles->pattern[0] == 1;

    *ret = (grid){ .rank = rank, .volume = 1, .order = order };
    if (rank < 0 || rank > CLV_RANK_MAX || (n > rank && !scalar))
        return clv_fail(err, CLV_EFORMAT,
                        "the tile pattern has %" PRId32 " entries, expected at most %" PRId32
                        ", one for each dimension of the tensor",
                        n, rank);
    for (int32_t i = 0; i < rank; i++) {
        ret->pattern[i] = i < rank - n ? 1 : tiles->pattern[i - (rank - n)];
        ret->volume *= ret->pattern[i];
    }
    return check_order(ret, CLV_EFORMAT, err);
}

/* Where the j-th tile is. */
static void find_tile(const grid *g, int64_t j, int64_t *ret)
{
    for (int32_t i = g->rank - 1; i >= 0; i--) {
        ret[i] = j % g->pattern[i];
        if (g->order == CLV_TILES_ROW_MAJOR)
            j /= g->pattern[i];
    }
}

static int64_t row_major(const int64_t *pattern, int32_t rank, const int64_t *at)
{
    int64_t j = 0;

    for (int32_t i = 0; i < rank; i++)
        j = j * pattern[i] + at[i];
    return j;
}

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "tiles"); }

/* -- make and combine -- */

static clv_status give(const int64_t *pattern, int32_t n_pattern, int64_t *instance,
                       int32_t n_instance, clv_arena *arena, clv_tiles *ret, clv_error *err)
{
    int64_t *own = CLV_NEW_ARRAY(arena, int64_t, n_pattern);
    clv_tiles tiles = { own, n_pattern, instance, n_instance, false };

    if (!own)
        return nomem(err);
    memcpy(own, pattern, (size_t)n_pattern * sizeof *own);
    CLV_TRY(clv_tiles_check(&tiles, 0, arena, err));
    *ret = tiles;
    return CLV_OK;
}

static clv_status give_copies(int64_t *instance, int32_t n, clv_arena *arena, clv_tiles *ret,
                              clv_error *err)
{
    return give(&(int64_t){ 1 }, 1, instance, n, arena, ret, err);
}

clv_status clv_tiles_whole(const int64_t *instance, int32_t n, clv_arena *arena, clv_tiles *ret,
                           clv_error *err)
{
    int64_t *own = CLV_NEW_ARRAY(arena, int64_t, n);

    if (!own)
        return nomem(err);
    for (int32_t i = 0; i < n; i++)
        own[i] = instance[i];
    return give_copies(own, n, arena, ret, err);
}

static int64_t volume_of(const clv_tiles *tiles)
{
    int64_t volume = 1;

    for (int32_t i = 0; i < tiles->n_pattern; i++)
        volume *= tiles->pattern[i];
    return volume;
}

clv_status clv_tiles_copies(const clv_tiles *const *tiles, int32_t n, clv_arena *arena,
                            clv_tiles *ret, clv_error *err)
{
    int64_t *instance = NULL, total = 0;

    for (int32_t i = 0; i < n; i++) {
        if (volume_of(tiles[i]) > 1)
            return clv_fail(err, CLV_EUNSUPP,
                            "dictionary %" PRId32 " has tiles, and no notation says which tiles "
                            "are copied",
                            i);
        total += tiles[i]->n_instance;
    }
    if (total > CLV_TILES_MAX)
        return clv_fail(err, CLV_ELIMIT, "the dictionaries have over %d copies", CLV_TILES_MAX);
    instance = CLV_NEW_ARRAY(arena, int64_t, total);
    if (!instance)
        return nomem(err);
    for (int32_t i = 0, at = 0; i < n; i++)
        for (int32_t k = 0; k < tiles[i]->n_instance; k++)
            instance[at++] = tiles[i]->instance[k];
    return give_copies(instance, (int32_t)total, arena, ret, err);
}

/* One dictionary's instances by row-major tile, behind those of the dictionaries before it. */
static clv_status take_joined(const clv_tiles *tiles, int32_t k, const grid *first,
                              int64_t *by_tile, clv_error *err)
{
    int64_t at[CLV_RANK_MAX];
    grid g;

    CLV_TRY(make_grid(tiles, first->order, first->rank, &g, err));
    for (int32_t i = 0; i < g.rank; i++)
        if (g.pattern[i] != first->pattern[i])
            return clv_fail(err, CLV_EFORMAT,
                            "dictionary %" PRId32 " has %" PRId64 " tiles along axis %" PRId32
                            ", expected %" PRId64 " as in the first",
                            k, g.pattern[i], i, first->pattern[i]);
    if (tiles->n_instance != g.volume)
        return clv_fail(err, CLV_EUNSUPP,
                        "dictionary %" PRId32 " has %" PRId32 " copies, and no notation says which "
                        "tiles are copied",
                        k, tiles->n_instance);
    for (int64_t j = 0; j < g.volume; j++) {
        find_tile(&g, j, at);
        by_tile[k * g.volume + row_major(g.pattern, g.rank, at)] = tiles->instance[j];
    }
    return CLV_OK;
}

/* The joined dictionary's instances in its own order. */
static void put_joined(const grid *joined, const grid *first, int32_t axis, const int64_t *by_tile,
                       int64_t *instance)
{
    int64_t at[CLV_RANK_MAX];

    for (int64_t j = 0; j < joined->volume; j++) {
        find_tile(joined, j, at);
        int64_t of = at[axis] / first->pattern[axis];
        at[axis] %= first->pattern[axis];
        instance[j] = by_tile[of * first->volume + row_major(first->pattern, first->rank, at)];
    }
}

clv_status clv_tiles_join(const clv_tiles *const *tiles, int32_t n, int32_t axis, int32_t rank,
                          clv_tile_order order, clv_arena *arena, clv_tiles *ret, clv_error *err)
{
    grid first, joined;
    int64_t *by_tile = NULL, *instance = NULL;

    if (n < 1 || axis < 0 || axis >= rank)
        return clv_fail(err, CLV_EFORMAT,
                        "%" PRId32 " dictionaries are to be joined along axis %" PRId32
                        ", expected at least 1 and an axis from 0 to %" PRId32,
                        n, axis, rank - 1);
    CLV_TRY(make_grid(tiles[0], order, rank, &first, err));
    joined = first;
    if (n > CLV_TILES_MAX / first.volume)
        return clv_fail(err, CLV_ELIMIT, "the dictionaries have over %d tiles", CLV_TILES_MAX);
    joined.pattern[axis] *= n;
    joined.volume *= n;
    CLV_TRY(check_order(&joined, CLV_EUNSUPP, err));
    by_tile = CLV_NEW_ARRAY(arena, int64_t, joined.volume);
    instance = CLV_NEW_ARRAY(arena, int64_t, joined.volume);
    if (!by_tile || !instance)
        return nomem(err);
    for (int32_t k = 0; k < n; k++)
        CLV_TRY(take_joined(tiles[k], k, &first, by_tile, err));
    put_joined(&joined, &first, axis, by_tile, instance);
    return give(joined.pattern, rank, instance, (int32_t)joined.volume, arena, ret, err);
}

/* -- extract and index -- */

/* floor(k * size / n), which 64 bits hold for k <= n <= CLV_TILES_MAX. */
static int64_t tile_start(int64_t size, int64_t n, int64_t k)
{
    return size / n * k + size % n * k / n;
}

static clv_status put_part(const grid *g, const int64_t *dims, int64_t tile, int64_t instance,
                           clv_arena *arena, clv_tile_parts *parts, clv_error *err)
{
    int64_t *start = CLV_NEW_ARRAY(arena, int64_t, 2 * g->rank), *size = NULL;
    int64_t at[CLV_RANK_MAX];

    if (!start)
        return nomem(err);
    size = start + g->rank;
    find_tile(g, tile, at);
    for (int32_t i = 0; i < g->rank; i++) {
        start[i] = tile_start(dims[i], g->pattern[i], at[i]);
        size[i] = tile_start(dims[i], g->pattern[i], at[i] + 1) - start[i];
    }
    parts->at[parts->n++] = (clv_tile_part){ instance, (int32_t)tile, start, size };
    return CLV_OK;
}

clv_status clv_tiles_extract(const clv_tiles *tiles, clv_tile_order order, int32_t rank,
                             const int64_t *dims, clv_arena *arena, clv_tile_parts *ret,
                             clv_error *err)
{
    clv_tile_parts parts = { .rank = rank };
    grid g;

    CLV_TRY(make_grid(tiles, order, rank, &g, err));
    parts.at = CLV_NEW_ARRAY(arena, clv_tile_part, tiles->n_instance);
    if (!parts.at)
        return nomem(err);
    for (int32_t i = 0; i < rank; i++)
        parts.uneven |= dims[i] % g.pattern[i] != 0;
    for (int32_t j = 0; j < tiles->n_instance; j++) {
        if (tiles->instance[j] == CLV_TILE_SUPPRESSED)
            parts.n_suppressed++;
        else
            CLV_TRY(
                put_part(&g, dims, g.volume > 1 ? j : 0, tiles->instance[j], arena, &parts, err));
    }
    *ret = parts;
    return CLV_OK;
}

int32_t clv_tile_parts_of(const clv_tile_parts *parts, int64_t instance, int32_t from)
{
    for (; from < parts->n; from++)
        if (parts->at[from].instance == instance)
            return from;
    return -1;
}

static bool has_element(const clv_tile_part *part, int32_t rank, const int64_t *element)
{
    for (int32_t i = 0; i < rank; i++)
        if (element[i] < part->start[i] || element[i] - part->start[i] >= part->size[i])
            return false;
    return true;
}

int32_t clv_tile_parts_with(const clv_tile_parts *parts, const int64_t *element, int32_t from)
{
    for (; from < parts->n; from++)
        if (has_element(&parts->at[from], parts->rank, element))
            return from;
    return -1;
}

/* -- IR 11 -- */

static clv_status make_dims(const grid *g, clv_arena *arena, clv_sharding_spec *spec,
                            clv_error *err)
{
    clv_sharded_dim *dims = CLV_NEW_ARRAY(arena, clv_sharded_dim, g->rank);
    clv_simple_sharding *simple = CLV_NEW_ARRAY(arena, clv_simple_sharding, g->rank);

    if (!dims || !simple)
        return nomem(err);
    for (int32_t i = 0; i < g->rank; i++) {
        if (g->pattern[i] == 1)
            continue;
        simple[i] = (clv_simple_sharding){ CLV_DIM_UNKNOWN, NULL, g->pattern[i] };
        dims[spec->n_dims++] = (clv_sharded_dim){ i, &simple[i], 1 };
    }
    spec->dims = dims;
    return CLV_OK;
}

clv_status clv_tiles_to_spec(const clv_tiles *tiles, clv_tile_order order, int32_t rank,
                             const char *name, clv_arena *arena, clv_sharding_spec *ret,
                             clv_error *err)
{
    clv_sharding_spec spec = { .tensor = name, .n_device = tiles->n_instance };
    int64_t *device = CLV_NEW_ARRAY(arena, int64_t, tiles->n_instance);
    int64_t at[CLV_RANK_MAX];
    grid g;

    if (!device)
        return nomem(err);
    CLV_TRY(make_grid(tiles, order, rank, &g, err));
    for (int32_t j = 0; j < tiles->n_instance; j++) {
        if (tiles->instance[j] == CLV_TILE_SUPPRESSED)
            return clv_fail(err, CLV_EUNSUPP,
                            "entry %" PRId32 " of the tile assignment is -1: a sharding spec has "
                            "no word for a tile of nobody",
                            j);
        find_tile(&g, j, at);
        device[g.volume > 1 ? row_major(g.pattern, rank, at) : j] = tiles->instance[j];
    }
    CLV_TRY(make_dims(&g, arena, &spec, err));
    spec.device = device;
    *ret = spec;
    return CLV_OK;
}

/* The pattern of a spec; a fused axis may be split by its outermost factor only. */
static clv_status spec_grid(const clv_sharding_spec *spec, grid *g, clv_error *err)
{
    for (int32_t i = 0; i < g->rank; i++)
        g->pattern[i] = 1;
    for (int32_t d = 0; d < spec->n_dims; d++) {
        const clv_sharded_dim *dim = &spec->dims[d];
        int64_t axis = dim->axis < 0 ? dim->axis + g->rank : dim->axis;
        g->pattern[axis] = dim->n_simple ? dim->simple[0].num_shards : 1;
        for (int32_t i = 1; i < dim->n_simple; i++)
            if (dim->simple[i].num_shards > 1)
                return clv_fail(err, CLV_EUNSUPP,
                                "sharding of '%.80s': an inner factor of axis %" PRId64
                                " is split, for which tiles have no notation",
                                CLV_SPEC_NAME(spec), axis);
        g->volume *= g->pattern[axis];
    }
    return check_order(g, CLV_EUNSUPP, err);
}

/* Copies: all members of groups. */
static clv_status spec_copies(const clv_sharding_spec *spec, const clv_group_index *groups,
                              clv_arena *arena, clv_tiles *ret, clv_error *err)
{
    int64_t *instance = NULL;
    int32_t n = 0, cap = 0;

    for (int32_t i = 0; i < spec->n_device; i++) {
        const clv_device_group *group = clv_group_find(groups, spec->device[i]);
        int32_t members = group ? group->n_devices : 1;
        for (int32_t k = 0; k < members; k++) {
            if (n == CLV_TILES_MAX)
                return clv_fail(err, CLV_ELIMIT, "sharding of '%.80s': has over %d copies",
                                CLV_SPEC_NAME(spec), CLV_TILES_MAX);
            if (!CLV_PUSH_ROOM(arena, instance, n, cap))
                return nomem(err);
            instance[n++] = group ? group->devices[k] : spec->device[i];
        }
    }
    return give_copies(instance, n, arena, ret, err);
}

/* The part of a spec that a tile is: the axes as they are listed, the first the outermost. */
static int64_t part_at(const clv_sharding_spec *spec, const grid *g, const int64_t *at)
{
    int64_t part = 0;

    for (int32_t d = 0; d < spec->n_dims; d++) {
        int64_t axis = spec->dims[d].axis < 0 ? spec->dims[d].axis + g->rank : spec->dims[d].axis;
        part = part * g->pattern[axis] + at[axis];
    }
    return part;
}

static clv_status spec_instances(const clv_sharding_spec *spec, const grid *g,
                                 const clv_group_index *groups, int64_t *instance, clv_error *err)
{
    int64_t at[CLV_RANK_MAX];

    for (int64_t j = 0; j < g->volume; j++) {
        find_tile(g, j, at);
        int64_t device = spec->device[part_at(spec, g, at)];
        const clv_device_group *group = clv_group_find(groups, device);
        if (group && group->n_devices != 1)
            return clv_fail(err, CLV_EUNSUPP,
                            "sharding of '%.80s': part %" PRId64 " is on %" PRId32
                            " devices, and tiles with copies have no notation",
                            CLV_SPEC_NAME(spec), part_at(spec, g, at), group->n_devices);
        instance[j] = group ? group->devices[0] : device;
    }
    return CLV_OK;
}

clv_status clv_tiles_from_spec(const clv_sharding_spec *spec, clv_tile_order order, int32_t rank,
                               clv_arena *arena, clv_tiles *ret, clv_error *err)
{
    grid g = { .rank = rank, .volume = 1, .order = order };
    clv_group_index groups;
    int64_t *instance = NULL;

    CLV_TRY(clv_spec_check(spec, rank, 0, arena, err));
    CLV_TRY(spec_grid(spec, &g, err));
    CLV_TRY(clv_group_index_make(spec, arena, &groups, err));
    if (g.volume == 1)
        return spec_copies(spec, &groups, arena, ret, err);
    if (g.volume > CLV_TILES_MAX)
        return clv_fail(err, CLV_ELIMIT, "sharding of '%.80s': has over %d parts",
                        CLV_SPEC_NAME(spec), CLV_TILES_MAX);
    instance = CLV_NEW_ARRAY(arena, int64_t, g.volume);
    if (!instance)
        return nomem(err);
    CLV_TRY(spec_instances(spec, &g, &groups, instance, err));
    return give(g.pattern, rank, instance, (int32_t)g.volume, arena, ret, err);
}
