#include "notation/tile_dictionary.h"

#include <inttypes.h>

/* A tile has a coordinate along each entry of the pattern. The two orders number tiles differently;
 * all else goes by the row-major number.
 */

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
static clv_status make_grid(const clv_tiles *tiles, int32_t rank, grid *ret, clv_error *err)
{
    int32_t n = tiles->n_pattern;
    bool scalar = n == 1 && tiles->pattern[0] == 1;

    *ret = (grid){ .rank = rank, .volume = 1, .order = tiles->order };
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

/* What was made, with a pattern of its own, once it is checked. */
static clv_status finish(clv_tiles made, clv_arena *arena, clv_tiles *ret, clv_error *err)
{
    int64_t *own = CLV_NEW_ARRAY(arena, int64_t, made.n_pattern);

    if (!own)
        return nomem(err);
    memcpy(own, made.pattern, (size_t)made.n_pattern * sizeof *own);
    made.pattern = own;
    CLV_TRY(clv_tiles_check(&made, 0, arena, err));
    *ret = made;
    return CLV_OK;
}

static clv_status make_copies(const int64_t *instance, int32_t n, clv_tile_order order,
                              clv_arena *arena, clv_tiles *ret, clv_error *err)
{
    return finish((clv_tiles){ &(int64_t){ 1 }, 1, instance, n, false, order }, arena, ret, err);
}

clv_status clv_tiles_whole(const int64_t *instance, int32_t n, clv_arena *arena, clv_tiles *ret,
                           clv_error *err)
{
    int64_t *own = CLV_NEW_ARRAY(arena, int64_t, n);

    if (!own)
        return nomem(err);
    for (int32_t i = 0; i < n; i++)
        own[i] = instance[i];
    return make_copies(own, n, CLV_TILES_ROW_MAJOR, arena, ret, err);
}

clv_status clv_tiles_copies(const clv_tiles *const *tiles, int32_t n, clv_arena *arena,
                            clv_tiles *ret, clv_error *err)
{
    int64_t *instance = NULL, total = 0;

    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < tiles[i]->n_pattern; k++)
            if (tiles[i]->pattern[k] > 1)
                return clv_fail(err, CLV_EUNSUPP,
                                "dictionary %" PRId32 " has tiles, and no notation says which "
                                "tiles are copied",
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
    return make_copies(instance, (int32_t)total, n > 0 ? tiles[0]->order : CLV_TILES_ROW_MAJOR,
                       arena, ret, err);
}

/* One dictionary's instances by row-major tile, behind those of the dictionaries before it. */
static clv_status number_row_major(const clv_tiles *tiles, int32_t k, const grid *first,
                                   int64_t *by_tile, clv_error *err)
{
    int64_t at[CLV_RANK_MAX];
    grid g;

    CLV_TRY(make_grid(tiles, first->rank, &g, err));
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

clv_status clv_tiles_join(const clv_tiles *const *tiles, int32_t n, clv_tile_axis along,
                          clv_arena *arena, clv_tiles *ret, clv_error *err)
{
    grid first, joined;
    const int32_t axis = along.axis, rank = along.rank;
    int64_t *by_tile = NULL, *instance = NULL;

    if (n < 1 || axis < 0 || axis >= rank)
        return clv_fail(err, CLV_EFORMAT,
                        "%" PRId32 " dictionaries are to be joined along axis %" PRId32
                        ", expected at least 1 and an axis from 0 to %" PRId32,
                        n, axis, rank - 1);
    CLV_TRY(make_grid(tiles[0], rank, &first, err));
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
        CLV_TRY(number_row_major(tiles[k], k, &first, by_tile, err));
    for (int64_t j = 0; j < joined.volume; j++) { /* in its own order */
        int64_t at[CLV_RANK_MAX];
        find_tile(&joined, j, at);
        int64_t of = at[axis] / first.pattern[axis];
        at[axis] %= first.pattern[axis];
        instance[j] = by_tile[of * first.volume + row_major(first.pattern, rank, at)];
    }
    return finish(
        (clv_tiles){ joined.pattern, rank, instance, (int32_t)joined.volume, false, joined.order },
        arena, ret, err);
}

/* -- extract and index -- */

/* floor(k * size / n), which 64 bits hold for k <= n <= CLV_TILES_MAX. */
static int64_t tile_start(int64_t size, int64_t n, int64_t k)
{
    return size / n * k + size % n * k / n;
}

clv_status clv_tiles_extract(const clv_tiles *tiles, int32_t rank, const int64_t *dims,
                             clv_arena *arena, clv_tile_parts *ret, clv_error *err)
{
    clv_tile_parts parts = { .rank = rank };
    grid g;

    CLV_TRY(make_grid(tiles, rank, &g, err));
    parts.at = CLV_NEW_ARRAY(arena, clv_tile_part, tiles->n_instance);
    if (!parts.at)
        return nomem(err);
    for (int32_t i = 0; i < rank; i++)
        parts.uneven |= dims[i] % g.pattern[i] != 0;
    for (int32_t j = 0; j < tiles->n_instance; j++) {
        int64_t at[CLV_RANK_MAX], *start = NULL, *size = NULL;
        int32_t tile = g.volume > 1 ? j : 0;
        if (tiles->instance[j] == CLV_TILE_SUPPRESSED) {
            parts.n_suppressed++;
            continue;
        }
        start = CLV_NEW_ARRAY(arena, int64_t, 2 * rank);
        if (!start)
            return nomem(err);
        size = start + rank;
        find_tile(&g, tile, at);
        for (int32_t i = 0; i < rank; i++) {
            start[i] = tile_start(dims[i], g.pattern[i], at[i]);
            size[i] = tile_start(dims[i], g.pattern[i], at[i] + 1) - start[i];
        }
        parts.at[parts.n++] = (clv_tile_part){ tiles->instance[j], tile, start, size };
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

int32_t clv_tile_parts_with(const clv_tile_parts *parts, const int64_t *element, int32_t from)
{
    for (; from < parts->n; from++) {
        const clv_tile_part *part = &parts->at[from];
        bool has = true;
        for (int32_t i = 0; i < parts->rank && has; i++)
            has = element[i] >= part->start[i] && element[i] - part->start[i] < part->size[i];
        if (has)
            return from;
    }
    return -1;
}

/* -- IR 11 -- */

clv_status clv_tiles_to_spec(const clv_tiles *tiles, int32_t rank, const char *name,
                             clv_arena *arena, clv_sharding_spec *ret, clv_error *err)
{
    clv_sharding_spec spec = { .tensor = name, .n_device = tiles->n_instance };
    int64_t *device = CLV_NEW_ARRAY(arena, int64_t, tiles->n_instance);
    int64_t at[CLV_RANK_MAX];
    grid g;

    if (!device)
        return nomem(err);
    CLV_TRY(make_grid(tiles, rank, &g, err));
    for (int32_t j = 0; j < tiles->n_instance; j++) {
        if (tiles->instance[j] == CLV_TILE_SUPPRESSED)
            return clv_fail(err, CLV_EUNSUPP,
                            "entry %" PRId32 " of the tile assignment is -1: a sharding spec has "
                            "no word for a tile of nobody",
                            j);
        find_tile(&g, j, at);
        device[g.volume > 1 ? row_major(g.pattern, rank, at) : j] = tiles->instance[j];
    }
    clv_sharded_dim *dims = CLV_NEW_ARRAY(arena, clv_sharded_dim, rank);
    clv_simple_sharding *simple = CLV_NEW_ARRAY(arena, clv_simple_sharding, rank);
    if (!dims || !simple)
        return nomem(err);
    for (int32_t i = 0; i < rank; i++) {
        if (g.pattern[i] == 1)
            continue;
        simple[i] = (clv_simple_sharding){ CLV_DIM_UNKNOWN, NULL, g.pattern[i] };
        dims[spec.n_dims++] = (clv_sharded_dim){ i, &simple[i], 1 };
    }
    spec.dims = dims;
    spec.device = device;
    *ret = spec;
    return CLV_OK;
}

/* The pattern of a spec; a fused axis may be split by its outermost factor only. */
static clv_status find_pattern(const clv_sharding_spec *spec, grid *g, clv_error *err)
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
static clv_status copies_of_spec(const clv_sharding_spec *spec, const clv_group_index *groups,
                                 clv_tile_order order, clv_arena *arena, clv_tiles *ret,
                                 clv_error *err)
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
    return make_copies(instance, n, order, arena, ret, err);
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

static clv_status instances_of_spec(const clv_sharding_spec *spec, const grid *g,
                                    const clv_group_index *groups, int64_t *instance,
                                    clv_error *err)
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
    CLV_TRY(find_pattern(spec, &g, err));
    CLV_TRY(clv_group_index_make(spec, arena, &groups, err));
    if (g.volume == 1)
        return copies_of_spec(spec, &groups, order, arena, ret, err);
    if (g.volume > CLV_TILES_MAX)
        return clv_fail(err, CLV_ELIMIT, "sharding of '%.80s': has over %d parts",
                        CLV_SPEC_NAME(spec), CLV_TILES_MAX);
    instance = CLV_NEW_ARRAY(arena, int64_t, g.volume);
    if (!instance)
        return nomem(err);
    CLV_TRY(instances_of_spec(spec, &g, &groups, instance, err));
    return finish((clv_tiles){ g.pattern, rank, instance, (int32_t)g.volume, false, order }, arena,
                  ret, err);
}
