/* mesh_levels.c - single-linkage clustering: a spanning tree of least distances (Prim, 1957, on the
 * full table), whose edges, shortest first, join devices into groups just as all pairs would. A
 * level is where joining all edges of one length leaves groups of one size.
 */
#include "sharding/mesh_levels.h"

#include <stdlib.h>

#define PROBE_BYTES INT64_C(1048576) /* nearness is measured with; as routes over links are */

typedef struct {
    int64_t ns;
    int32_t a, b; /* places in the list of devices */
} span;

static int by_length(const void *x, const void *y)
{
    const span *a = x, *b = y;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b); /* b is every edge's own */
}

/* n - 1 edges; edge i - 1 at first leads to place i. */
static void span_tree(const clv_cluster *c, const int32_t *device, int32_t n, span *tree,
                      bool *done)
{
    int32_t last = 0;
    for (int32_t i = 1; i < n; i++)
        tree[i - 1] = (span){ INT64_MAX, 0, i };
    for (int32_t round = 1; round < n; round++) {
        int32_t next = -1;
        done[last] = true;
        for (int32_t i = 1; i < n; i++) {
            if (done[i])
                continue;
            int64_t ns = clv_transfer_ns(c, device[last], device[i], PROBE_BYTES);
            int64_t back_ns = clv_transfer_ns(c, device[i], device[last], PROBE_BYTES);
            ns = back_ns > ns ? back_ns : ns;
            if (ns < tree[i - 1].ns)
                tree[i - 1] = (span){ ns, last, i };
            if (next < 0 || tree[i - 1].ns < tree[next - 1].ns)
                next = i;
        }
        last = next;
    }
    qsort(tree, (size_t)(n - 1), sizeof *tree, by_length);
}

/* The size that all groups have, or 0. */
static int32_t common_size(const int32_t *group, int32_t n, int32_t *count)
{
    for (int32_t i = 0; i < n; i++)
        count[i] = 0;
    for (int32_t i = 0; i < n; i++)
        count[group[i]]++;
    for (int32_t i = 0; i < n; i++)
        if (count[i] > 0 && count[i] != count[0])
            return 0;
    return count[0];
}

/* Places sorted by group, the order within a group kept: a level at a time from the innermost, this
 * makes every level's groups runs. */
static void sort_by_group(const int32_t *group, int32_t n, int32_t *order, int32_t *scratch)
{
    int32_t k = 0;
    for (int32_t g = 0; g < n; g++)
        for (int32_t i = 0; group[g] == g && i < n; i++)
            if (group[order[i]] == g)
                scratch[k++] = order[i];
    memcpy(order, scratch, (size_t)n * sizeof *order);
}

clv_status clv_mesh_levels(const clv_cluster *cluster, clv_mesh_devices devices, clv_arena *arena,
                           clv_link_levels *ret, clv_error *err)
{
    int32_t n = devices.at ? devices.n : cluster->n_devices, n_levels = 0, inner = 1;
    int32_t *order = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t *levels = CLV_NEW_ARRAY(arena, int32_t, 32); /* sizes above 1, a product below 2^31 */
    int32_t *group = CLV_NEW_ARRAY(arena, int32_t, n);   /* the smallest place that i hangs with */
    int32_t *count = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t *scratch = CLV_NEW_ARRAY(arena, int32_t, n);
    span *tree = CLV_NEW_ARRAY(arena, span, n);
    bool *done = CLV_NEW_ARRAY(arena, bool, n);
    int32_t *list = CLV_NEW_ARRAY(arena, int32_t, n);

    if (!order || !levels || !group || !count || !scratch || !tree || !done || !list)
        return clv_fail_nomem(err, "the link levels of a mesh");
    for (int32_t i = 0; i < n; i++) {
        list[i] = devices.at ? devices.at[i] : i;
        order[i] = group[i] = i;
    }
    span_tree(cluster, list, n, tree, done);
    for (int32_t e = 0; e < n - 1; e++) {
        int32_t a = group[tree[e].a], b = group[tree[e].b];
        for (int32_t i = 0; i < n; i++) /* the two become one */
            if (group[i] == (a > b ? a : b))
                group[i] = a < b ? a : b;
        if (e + 1 < n - 1 && tree[e + 1].ns == tree[e].ns)
            continue;
        int32_t size = common_size(group, n, count);
        if (size == 0 || size % inner != 0)
            continue;
        sort_by_group(group, n, order, scratch);
        levels[n_levels++] = size / inner;
        inner = size;
    }
    if (n_levels == 0)
        levels[n_levels++] = n;
    for (int32_t i = 0; i < n; i++)
        order[i] = list[order[i]];
    *ret = (clv_link_levels){ n, order, n_levels, levels };
    return CLV_OK;
}

/* Groups of so many neighbours are inside a group of every level, or made of whole ones. */
static bool fits_levels(const clv_link_levels *levels, int32_t neighbours)
{
    int32_t group = 1;
    for (int32_t k = 0; k < levels->n_levels; k++) {
        group *= levels->size[k];
        if (group % neighbours != 0 && neighbours % group != 0)
            return false;
    }
    return true;
}

typedef struct {
    const clv_link_levels *levels;
    clv_arena *arena;
    clv_mesh_form *at;
    int32_t n, cap;
} forms;

/* All ways for the axes from form->n_axes on, n_more of them, to have the product rest. */
static bool add_forms(forms *f, clv_mesh_form *form, int32_t n_more, int32_t rest)
{
    if (n_more == 1) {
        form->size[form->n_axes++] = rest;
        bool room = CLV_PUSH_ROOM(f->arena, f->at, f->n, f->cap);
        if (room)
            f->at[f->n++] = *form;
        form->size[--form->n_axes] = 1;
        return room;
    }
    for (int32_t size = 2; size <= rest / 2; size++) {
        if (rest % size != 0 || !fits_levels(f->levels, rest / size))
            continue;
        form->size[form->n_axes++] = size;
        bool more = add_forms(f, form, n_more - 1, rest / size);
        form->size[--form->n_axes] = 1;
        if (!more)
            return false;
    }
    return true;
}

clv_status clv_mesh_forms(const clv_link_levels *levels, int32_t max_axes, clv_arena *arena,
                          const clv_mesh_form **ret, int32_t *ret_n, clv_error *err)
{
    forms f = { .levels = levels, .arena = arena };

    for (int32_t n = 1; n <= max_axes && n <= CLV_MESH_AXES_MAX; n++) {
        clv_mesh_form form = { .size = { 1, 1, 1 } };
        if (!add_forms(&f, &form, n, levels->n_devices))
            return clv_fail_nomem(err, "the meshes of a cluster");
    }
    *ret = f.at;
    *ret_n = f.n;
    return CLV_OK;
}
