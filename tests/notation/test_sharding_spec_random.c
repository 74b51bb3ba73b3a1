/* test_sharding_spec_random.c - random specs against a checker that looks at each element by
 * itself: the parts cover the tensor exactly once for each copy, each part where the rule puts it.
 */
#include <criterion/criterion.h>

#include "notation/spec_shards.h"

static clv_arena *arena;

static uint64_t seed;

static int64_t below(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

enum { RANK_MOST = 3, PARTS_MOST = 64 };

typedef struct {
    int32_t rank;
    int64_t shape[RANK_MOST];
    clv_sharded_dim dims[RANK_MOST];
    clv_simple_sharding simple[RANK_MOST][2];
    int64_t device[PARTS_MOST];
    clv_device_group groups[PARTS_MOST];
    int64_t members[PARTS_MOST][3];
    clv_sharding_spec spec;
    clv_uneven_policy policy;
    int64_t parts;
} random_case;

static void random_axis(random_case *c, int32_t axis)
{
    int32_t d = c->spec.n_dims++, n = 1 + (int32_t)below(2);
    int64_t size = 1;
    for (int32_t i = 0; i < n; i++) {
        int64_t dim = below(6), shards = 1 + below(n == 2 ? 2 : 3);
        c->simple[d][i] = (clv_simple_sharding){ dim, NULL, shards };
        size *= dim;
        c->parts *= shards;
    }
    c->shape[axis] = size;
    if (n == 1 && below(2))
        c->simple[d][0].dim = CLV_DIM_UNKNOWN;
    c->dims[d] = (clv_sharded_dim){ below(2) ? axis : axis - c->rank, c->simple[d], n };
}

/* Entry k of the device list: a plain id or a group of one to three, none used twice. */
static void random_device(random_case *c, int32_t k)
{
    c->device[k] = 3 * k;
    if (!below(2))
        return;
    int32_t g = c->spec.n_groups++, n = 1 + (int32_t)below(3);
    for (int32_t i = 0; i < n; i++)
        c->members[g][i] = 3 * k + i;
    c->device[k] = below(4) ? -1 - k : 3 * k;
    c->groups[g] = (clv_device_group){ c->device[k], c->members[g], n };
}

static void make_case(random_case *c)
{
    *c = (random_case){ .rank = 1 + (int32_t)below(RANK_MOST), .parts = 1 };
    int32_t start = (int32_t)below(c->rank), step = below(2) ? 1 : c->rank - 1;
    for (int32_t i = 0; i < c->rank; i++)
        c->shape[i] = 1 + below(5);
    for (int32_t i = 0, axis = start; i < c->rank; i++, axis = (axis + (step ? step : 1)) % c->rank)
        if (below(3))
            random_axis(c, axis);
    int32_t n = (int32_t)(c->parts > 1 ? c->parts : 1 + below(3));
    c->spec.tensor = "X";
    c->spec.device = c->device;
    c->spec.n_device = n;
    c->spec.groups = c->groups;
    c->spec.dims = c->dims;
    for (int32_t k = 0; k < n; k++)
        random_device(c, k);
    c->policy = below(2) ? CLV_UNEVEN_CEIL : CLV_UNEVEN_BALANCED;
}

static clv_shards split(const random_case *c)
{
    clv_shards shards = { 0 };
    clv_error err = { .message = "" };
    cr_assert_eq(clv_spec_shards(&c->spec,
                                 &(clv_tensor_split){ .rank = c->rank,
                                                      .dims = c->shape,
                                                      .dtype = CLV_DT_FLOAT,
                                                      .policy = c->policy },
                                 arena, &shards, &err),
                 CLV_OK, "%s", err.message);
    return shards;
}

/* In which of count blocks is position x of an axis of that size? By walking the blocks. */
static int64_t block_of(int64_t x, int64_t size, int64_t count, clv_uneven_policy policy)
{
    int64_t left = size, at = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t width = policy == CLV_UNEVEN_CEIL ? (size + count - 1) / count
                                                  : (left + (count - k) - 1) / (count - k);
        if (width > left)
            width = left;
        if (x < at + width)
            return k;
        at += width;
        left -= width;
    }
    return count;
}

/* The part that the rule gives an element, from its coordinates in the tensor's own shape. */
static int64_t part_of(const random_case *c, const int64_t *x)
{
    int64_t part = 0;
    for (int32_t d = 0; d < c->spec.n_dims; d++) {
        const clv_sharded_dim *dim = &c->dims[d];
        int64_t axis = dim->axis < 0 ? dim->axis + c->rank : dim->axis, inner = 1;
        if (dim->n_simple == 2)
            inner = dim->simple[1].dim;
        for (int32_t i = 0; i < dim->n_simple; i++) {
            int64_t size = dim->n_simple == 1 ? c->shape[axis] : dim->simple[i].dim;
            int64_t at = dim->n_simple == 1 ? x[axis] : i == 0 ? x[axis] / inner : x[axis] % inner;
            part = part * dim->simple[i].num_shards +
                   block_of(at, size, dim->simple[i].num_shards, c->policy);
        }
    }
    return part;
}

/* Is element number e (row-major, the same number in the shape taken apart) in the shard? */
static bool has(const clv_shards *s, const clv_shard *shard, int64_t e)
{
    for (int32_t i = s->rank - 1; i >= 0; i--) {
        int64_t x = e % s->dims[i];
        if (x < shard->offset[i] || x >= shard->offset[i] + shard->size[i])
            return false;
        e /= s->dims[i];
    }
    return true;
}

static int32_t copies_of(const random_case *c, int64_t entry)
{
    for (int32_t g = 0; g < c->spec.n_groups; g++)
        if (c->groups[g].key == c->device[entry])
            return c->groups[g].n_devices;
    return 1;
}

/* How many shards have element e; the right ones only. */
static int32_t check_element(const random_case *c, const clv_shards *s, int64_t e, int number)
{
    int64_t x[RANK_MOST], rest = e;
    int32_t n = 0, expected = 0;
    for (int32_t i = c->rank - 1; i >= 0; i--) {
        x[i] = rest % c->shape[i];
        rest /= c->shape[i];
    }
    int64_t part = part_of(c, x);
    for (int32_t i = 0; i < s->n; i++)
        if (has(s, &s->at[i], e)) {
            n++;
            cr_assert_eq(s->at[i].part, part, "case %d: element %d", number, (int)e);
        }
    if (c->parts > 1)
        expected = copies_of(c, part);
    else
        for (int32_t k = 0; k < c->spec.n_device; k++)
            expected += copies_of(c, k);
    cr_assert_eq(n, expected, "case %d: element %d is on %d devices, expected %d", number, (int)e,
                 (int)n, (int)expected);
    return n;
}

/* covers: A.016 A.018 A.019 A.021 A.022 A.024 A.027 A.028 A.034 */
Test(sharding_spec_random, random_parts_cover_the_tensor_once_for_each_copy)
{
    int uneven = 0, fused = 0, empty = 0;
    arena = clv_arena_new(NULL, 0);
    seed = 20240611;
    for (int number = 0; number < 20000; number++) {
        random_case c;
        make_case(&c);
        clv_mark mark = clv_arena_mark(arena);
        clv_shards s = split(&c);
        int64_t elems = 1, copies = 0, covered = 0;
        for (int32_t i = 0; i < c.rank; i++)
            elems *= c.shape[i];
        for (int64_t e = 0; e < elems; e++)
            covered += check_element(&c, &s, e, number);
        for (int32_t i = 0; i < s.n; i++) {
            int64_t size = 4;
            for (int32_t k = 0; k < s.rank; k++)
                size *= s.at[i].size[k];
            cr_assert_eq(s.at[i].bytes, size);
            covered -= size / 4;
        }
        for (int32_t k = 0; k < c.spec.n_device; k++)
            copies += copies_of(&c, k);
        cr_assert_eq(s.n, copies);
        cr_assert_eq(covered, 0, "case %d: shards reach out of the tensor", number);
        uneven += s.uneven;
        fused += s.rank > c.rank;
        empty += elems == 0;
        clv_arena_rewind(arena, mark);
    }
    clv_arena_free(arena);
    cr_assert(uneven > 1000 && fused > 1000 && empty > 100, "the cases are too plain: %d %d %d",
              uneven, fused, empty);
}
