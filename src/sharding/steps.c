#include "sharding/steps.h"

const char *clv_step_name(clv_step_kind kind)
{
    static const char *const names[CLV_N_STEPS] = { "slice",          "neutral",    "all-gather",
                                                    "reduce-scatter", "all-reduce", "all-to-all",
                                                    "permute" };
    return names[kind];
}

/* -- kinds -- */

enum { COPY = 1, SPLIT = 2, PARTIAL = 4, ANY = COPY | SPLIT | PARTIAL };

static int role_of(const clv_layout *l, int32_t axis)
{
    return l->dim[axis] >= 0 ? SPLIT : l->dim[axis] == CLV_AXIS_COPY ? COPY : PARTIAL;
}

bool clv_step_fits(clv_step_kind kind, uint32_t axes, const clv_layout *from, const clv_layout *to,
                   const clv_mesh *mesh)
{
    static const struct {
        int before, after;
    } does[CLV_N_STEPS] = {
        [CLV_STEP_SLICE] = { COPY, SPLIT },
        [CLV_STEP_NEUTRAL] = { COPY, PARTIAL },
        [CLV_STEP_ALL_GATHER] = { SPLIT, COPY },
        [CLV_STEP_REDUCE_SCATTER] = { PARTIAL, SPLIT },
        [CLV_STEP_ALL_REDUCE] = { PARTIAL, COPY },
        [CLV_STEP_ALL_TO_ALL] = { COPY | SPLIT, COPY | SPLIT },
        [CLV_STEP_PERMUTE] = { ANY, ANY },
    };
    for (int32_t a = 0; a < mesh->n_axes; a++) {
        if (mesh->size[a] < 2)
            continue;
        if (axes >> a & 1
                ? !(does[kind].before & role_of(from, a)) || !(does[kind].after & role_of(to, a))
                : from->dim[a] != to->dim[a] || from->reduce[a] != to->reduce[a])
            return false;
    }
    return true;
}

/* -- bytes -- */

static int64_t saturating_product(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t elems_along(const clv_layouts *all, int32_t at, int32_t dim)
{
    return all->along[at * all->tensor.rank + dim];
}

/* Do the same axes split dim in both? */
static bool same_on(const clv_layout *a, const clv_layout *b, int32_t dim)
{
    for (int32_t x = 0; x < CLV_MESH_AXES_MAX; x++) {
        bool in_a = a->dim[x] == dim, in_b = b->dim[x] == dim;
        if (in_a != in_b || (in_a && (a->outer[x] != b->outer[x] || a->unit[x] != b->unit[x])))
            return false;
    }
    return true;
}

/* Do those that split it in the one do so in the other? */
static bool all_in(const clv_layout *few, const clv_layout *many, int32_t dim)
{
    for (int32_t x = 0; x < CLV_MESH_AXES_MAX; x++)
        if (few->dim[x] == dim && (many->dim[x] != dim || many->outer[x] != few->outer[x] ||
                                   many->unit[x] != few->unit[x]))
            return false;
    return true;
}

/* The part of one outer piece that a layout leaves to a device, along a dimension split within
 * `outer` pieces and nowhere further inside. */
static int64_t part_within(const clv_layouts *all, const clv_layout *layout, int32_t dim,
                           int32_t outer)
{
    int32_t axes[CLV_MESH_AXES_MAX], in[CLV_MESH_AXES_MAX], n_in = 0, unit = 1;
    int32_t n = clv_layout_axes_of(layout, dim, axes);

    for (int32_t i = 0; i < n; i++)
        if (layout->outer[axes[i]] == outer) {
            unit = layout->unit[axes[i]];
            in[n_in++] = axes[i];
        }
    return unit *
           clv_largest_cut(all->tensor.dims[dim] / outer / unit, all->mesh, &all->tensor, in, n_in);
}

/* An axis changes its factor within a dimension: where the layout that splits the outer factor
 * leaves each device whole pieces of it, a piece of that which the other one makes of every inner
 * factor; else no more than either has. */
static int64_t elems_in_both(const clv_layouts *all, int32_t from_at, int32_t to_at, int32_t dim)
{
    const clv_layout *from = &all->at[from_at], *to = &all->at[to_at];
    int32_t low = INT32_MAX, high = 0, parts = 1;
    const clv_layout *both[] = { from, to }, *outside = NULL;
    int64_t here = elems_along(all, from_at, dim), there = elems_along(all, to_at, dim);
    int64_t least = here < there ? here : there;

    for (int32_t i = 0; i < 2; i++)
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (both[i]->dim[a] == dim) {
                low = both[i]->outer[a] < low ? both[i]->outer[a] : low;
                high = both[i]->outer[a] > high ? both[i]->outer[a] : high;
            }
    for (int32_t i = 0; i < 2; i++)
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (both[i]->dim[a] == dim && both[i]->outer[a] != high) {
                bool other = outside && outside != both[i];
                bool cut = both[i]->unit[a] > 1; /* a piece of the outer factor may be cut */
                if (both[i]->outer[a] != low || other || cut || all->tensor.share[a])
                    return least;
                outside = both[i];
                parts *= all->mesh->size[a];
            }
    if (!outside || (high / low) % parts != 0 || low != 1)
        return least;
    const clv_layout *inside = outside == from ? to : from;
    return (outside == from ? here : there) / part_within(all, outside, dim, high) *
           part_within(all, inside, dim, high);
}

/* What one device sends another in an all-to-all: what is in both their parts. Along a dimension
 * that only loses axes the sender's part, that only gains the receiver's. */
static int64_t piece_bytes(const clv_layouts *all, int32_t from_at, int32_t to_at)
{
    const clv_layout *from = &all->at[from_at], *to = &all->at[to_at];
    int64_t elems = 1;

    for (int32_t d = 0; d < all->tensor.rank; d++) {
        int64_t one;
        if (same_on(from, to, d) || all_in(to, from, d))
            one = elems_along(all, from_at, d);
        else if (all_in(from, to, d))
            one = elems_along(all, to_at, d);
        else
            one = elems_in_both(all, from_at, to_at, d);
        elems = saturating_product(elems, one);
    }
    return clv_bytes_of_elems(all->tensor.dtype, elems);
}

/* -- steps -- */

typedef struct {
    const clv_layouts *all;
    int32_t from;
    const clv_layout *layout;
    clv_arena *arena;
    clv_step_list *list;
    bool no_memory;
} walk;

/* Axes of one device are never in a step, so only inner factors and units can make a layout that is
 * not plain, and only these and shares one that looks like another but is not allowed. */
static int32_t find_target(const clv_layouts *all, const clv_layout *to)
{
    if (all->simple)
        return clv_layouts_find_plain(all, to);
    if (clv_layout_check(to, all->mesh, all->tensor.rank, &all->tensor, NULL) != CLV_OK)
        return -1;
    return clv_layouts_find(all, to);
}

static void add_step(walk *w, clv_step_kind kind, uint32_t axes, const clv_layout *to_layout)
{
    int32_t to = find_target(w->all, to_layout), n = clv_mesh_count(w->all->mesh, axes);

    if (to < 0 || to == w->from)
        return;
    const int64_t here = w->all->bytes[w->from], there = w->all->bytes[to];
    int64_t bytes = 0, part = 0;
    if (kind == CLV_STEP_ALL_GATHER)
        part = here;
    else if (kind == CLV_STEP_REDUCE_SCATTER)
        part = there;
    else if (kind == CLV_STEP_ALL_REDUCE)
        part = here / n + (here % n != 0);
    else if (kind == CLV_STEP_ALL_TO_ALL)
        part = piece_bytes(w->all, w->from, to);
    bytes = kind == CLV_STEP_PERMUTE ? here : saturating_product(n, part);
    int64_t sent = kind == CLV_STEP_PERMUTE ? here : saturating_product(n - 1, part);
    if (kind == CLV_STEP_ALL_REDUCE)
        sent = saturating_product(2, sent);
    if (!CLV_PUSH_ROOM(w->arena, w->list->at, w->list->n, w->list->cap)) {
        w->no_memory = true;
        return;
    }
    w->list->at[w->list->n++] = (clv_step_to){ kind, axes, to, bytes, sent };
}

/* Are these axes the innermost ones of the factors that they split? */
static bool innermost(const clv_layout *l, uint32_t axes)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        for (int32_t b = 0; axes & 1u << a && b < CLV_MESH_AXES_MAX; b++)
            if (!(axes & 1u << b) && l->dim[b] == l->dim[a] && l->outer[b] == l->outer[a] &&
                l->nest[b] > l->nest[a])
                return false;
    return true;
}

/* The axes that split the slot already take its units for their own; false: they cut otherwise than
 * between units. */
static bool adopt_units(const clv_layouts *all, clv_layout *layout, clv_slot slot)
{
    int64_t parts = 1, units = all->tensor.dims[slot.dim] / slot.outer / slot.unit;

    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        if (layout->dim[a] != slot.dim || layout->outer[a] != slot.outer ||
            layout->unit[a] == slot.unit)
            continue;
        if (layout->unit[a] != 1 || all->tensor.share[a])
            return false;
        layout->unit[a] = slot.unit;
        parts *= all->mesh->size[a];
    }
    return units % parts == 0;
}

/* All axes of the set split one slot, in every order. */
static void add_splits(walk *w, clv_step_kind kind, uint32_t axes, uint32_t left, clv_slot slot,
                       const clv_layout *base)
{
    if (left == 0) {
        add_step(w, kind, axes, base);
        return;
    }
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        clv_layout to = *base;
        if (!(left & 1u << a) || !adopt_units(w->all, &to, slot))
            continue;
        clv_layout_split_units(&to, a, slot.dim, slot.outer, slot.unit);
        add_splits(w, kind, axes, left & ~(1u << a), slot, &to); /* at most three deep */
    }
}

static bool one_axis(uint32_t axes) { return (axes & (axes - 1)) == 0; }

static bool splits_slot(const clv_layout *l, uint32_t axes, clv_slot slot)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (axes & 1u << a && l->dim[a] == slot.dim && l->outer[a] == slot.outer &&
            l->unit[a] == slot.unit)
            return true;
    return false;
}

static void add_steps_over(walk *w, uint32_t axes, uint32_t partial, uint32_t copy)
{
    const clv_layouts *all = w->all;
    clv_layout base = clv_layout_without(w->layout, axes);
    bool of_partial = (axes & ~partial) == 0, of_copy = (axes & ~copy) == 0;
    bool of_split = (axes & (partial | copy)) == 0 && innermost(w->layout, axes);

    if (of_copy && one_axis(axes)) {
        clv_layout to = base;
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (axes & 1u << a) {
                to.dim[a] = CLV_AXIS_PARTIAL;
                to.reduce[a] = CLV_REDUCE_SUM;
            }
        add_step(w, CLV_STEP_NEUTRAL, axes, &to);
    }
    if (of_partial)
        add_step(w, CLV_STEP_ALL_REDUCE, axes, &base);
    if (of_split)
        add_step(w, CLV_STEP_ALL_GATHER, axes, &base);
    for (int32_t s = 0; s < all->n_slots; s++) {
        if (of_copy && one_axis(axes))
            add_splits(w, CLV_STEP_SLICE, axes, axes, all->slot[s], &base);
        if (of_partial)
            add_splits(w, CLV_STEP_REDUCE_SCATTER, axes, axes, all->slot[s], &base);
        if (of_split && !splits_slot(w->layout, axes, all->slot[s]))
            add_splits(w, CLV_STEP_ALL_TO_ALL, axes, axes, all->slot[s], &base);
    }
}

clv_status clv_layouts_steps(const clv_layouts *all, int32_t from, clv_arena *arena,
                             clv_step_list *ret, clv_error *err)
{
    const uint32_t longs = clv_mesh_long_axes(all->mesh);
    const clv_layout *layout = &all->at[from];
    walk w = { all, from, layout, arena, ret, false };

    for (uint32_t axes = 1; axes <= longs; axes++)
        if ((axes & ~longs) == 0)
            add_steps_over(&w, axes, clv_layout_partial_axes(layout),
                           clv_layout_copy_axes(layout, all->mesh));
    for (int32_t i = all->alike_from[from]; i < all->alike_to[from]; i++)
        add_step(&w, CLV_STEP_PERMUTE, longs, &all->at[all->alike[i]]);
    return w.no_memory ? clv_fail_nomem(err, "the steps between layouts") : CLV_OK;
}
