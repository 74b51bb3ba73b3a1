#include "sharding/layouts.h"

#include <stdlib.h>

/* A layout's key is what its axes do, as digits, and how they nest. Layouts are made in the order
 * of their keys, so that one is found by halving. */

#define NESTS 27 /* three axes with a nest below 3 */

enum { COPY, PARTIAL, FIRST_SLOT };

static int32_t slot_of(const clv_layouts *all, int32_t dim, int32_t outer, int32_t unit)
{
    for (int32_t s = 0; s < all->n_slots; s++)
        if (all->slot[s].dim == dim && all->slot[s].outer == outer && all->slot[s].unit == unit)
            return s;
    return -1;
}

int32_t clv_layouts_find_plain(const clv_layouts *all, const clv_layout *plain)
{
    int32_t key = 0, nest = 0, low = 0, high = all->n - 1;

    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        int32_t digit = plain->dim[a] == CLV_AXIS_COPY ? COPY : PARTIAL;
        if (plain->dim[a] >= 0) {
            int32_t slot = slot_of(all, plain->dim[a], plain->outer[a], plain->unit[a]);
            if (slot < 0)
                return -1;
            digit = FIRST_SLOT + slot;
        }
        key = key * (all->n_slots + FIRST_SLOT) + digit;
        nest = nest * CLV_MESH_AXES_MAX + plain->nest[a];
    }
    key = key * NESTS + nest;
    while (low <= high) {
        int32_t mid = low + (high - low) / 2;
        if (all->key[mid] == key)
            return mid;
        if (all->key[mid] < key)
            low = mid + 1;
        else
            high = mid - 1;
    }
    return -1;
}

int32_t clv_layouts_find(const clv_layouts *all, const clv_layout *layout)
{
    clv_layout plain = clv_layout_plain_for(layout, all->mesh, &all->tensor);
    return clv_layouts_find_plain(all, &plain);
}

/* -- all of them -- */

typedef struct {
    clv_layouts *all;
    clv_arena *arena;
    clv_layout *at;
    int32_t *key;
    int32_t n, cap, key_cap;
} maker;

/* How many nests to try with these digits. An axis of one device is always a copy; axes that are
 * alone on their dimensions nest in one way. */
static int32_t count_nests(const clv_layouts *all, int32_t digits)
{
    int32_t base = all->n_slots + FIRST_SLOT, n = 1;
    uint64_t taken = 0; /* dimensions, of which there are CLV_RANK_MAX */
    for (int32_t a = CLV_MESH_AXES_MAX - 1; a >= 0; a--, digits /= base) {
        int32_t digit = digits % base;
        if (digit != COPY && all->mesh->size[a] == 1)
            return 0;
        uint64_t dim = digit < FIRST_SLOT ? 0 : UINT64_C(1) << all->slot[digit - FIRST_SLOT].dim;
        n = taken & dim ? NESTS : n;
        taken |= dim;
    }
    return n;
}

/* The layout of a key; false: there is none. */
static bool layout_of(const clv_layouts *all, int32_t key, clv_layout *ret)
{
    int32_t base = all->n_slots + FIRST_SLOT, nest = key % NESTS;
    int32_t users[CLV_MESH_AXES_MAX] = { 0 };

    *ret = CLV_LAYOUT_COPIES;
    key /= NESTS;
    for (int32_t a = CLV_MESH_AXES_MAX - 1; a >= 0; a--) {
        int32_t digit = key % base;
        ret->nest[a] = (int8_t)(nest % CLV_MESH_AXES_MAX);
        key /= base;
        nest /= CLV_MESH_AXES_MAX;
        if (digit == PARTIAL) {
            ret->dim[a] = CLV_AXIS_PARTIAL;
            ret->reduce[a] = CLV_REDUCE_SUM;
        } else if (digit >= FIRST_SLOT) {
            ret->dim[a] = (int8_t)all->slot[digit - FIRST_SLOT].dim;
            ret->outer[a] = all->slot[digit - FIRST_SLOT].outer;
            ret->unit[a] = all->slot[digit - FIRST_SLOT].unit;
        }
    }
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) /* most nests are out at once */
        for (int32_t b = 0; b < CLV_MESH_AXES_MAX; b++)
            users[a] += ret->dim[a] >= 0 && ret->dim[b] == ret->dim[a];
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (ret->nest[a] > 0 && ret->nest[a] >= users[a])
            return false;
    return true;
}

static clv_status add_layout(maker *m, int32_t key, clv_error *err)
{
    clv_layout layout, plain;

    if (!layout_of(m->all, key, &layout))
        return CLV_OK;
    if (clv_layout_check(&layout, m->all->mesh, m->all->tensor.rank, &m->all->tensor, NULL) !=
        CLV_OK)
        return CLV_OK;
    plain = clv_layout_plain_for(&layout, m->all->mesh, &m->all->tensor);
    if (!clv_layout_equal(&plain, &layout))
        return CLV_OK;
    if (m->n == m->cap) {
        int32_t cap = m->cap ? 2 * m->cap : 64;
        m->at = clv_arena_grow(m->arena, m->at, (size_t)m->cap, (size_t)cap, sizeof *m->at);
        m->key = clv_arena_grow(m->arena, m->key, (size_t)m->cap, (size_t)cap, sizeof *m->key);
        if (!m->at || !m->key)
            return clv_fail_nomem(err, "the layouts of a tensor");
        m->cap = cap;
    }
    m->at[m->n] = layout;
    m->key[m->n++] = key;
    return CLV_OK;
}

static clv_status add_slots(clv_layouts *all, clv_slots more, clv_error *err)
{
    for (int32_t i = 0; i < all->tensor.rank + more.n; i++) {
        clv_slot slot =
            i < all->tensor.rank ? (clv_slot){ i, 1, 1 } : more.at[i - all->tensor.rank];
        int64_t size =
            slot.dim >= 0 && slot.dim < all->tensor.rank ? all->tensor.dims[slot.dim] : 0;
        slot.unit = slot.unit == 0 ? 1 : slot.unit;
        if (size < 2 || slot.outer < 1 || size % slot.outer != 0 || slot.unit < 1 ||
            size / slot.outer % slot.unit != 0 ||
            slot_of(all, slot.dim, slot.outer, slot.unit) >= 0)
            continue;
        if (all->n_slots == CLV_SLOTS_MAX)
            return clv_fail(err, CLV_ELIMIT,
                            "a tensor of rank %d may be split in over %d ways by one axis",
                            (int)all->tensor.rank, CLV_SLOTS_MAX);
        all->slot[all->n_slots++] = slot;
    }
    return CLV_OK;
}

/* -- those with the same parts -- */

/* What the parts of a layout are, without which device has which: by slot how many there are, and
 * where they are uneven, by which sizes they came about; with shares, by which axes. */
typedef struct {
    int16_t slot[CLV_MESH_AXES_MAX], place[CLV_MESH_AXES_MAX], count[CLV_MESH_AXES_MAX],
        axis[CLV_MESH_AXES_MAX];
    int32_t at;
} pattern;

static pattern pattern_of(const clv_layouts *all, int32_t at)
{
    const clv_layout *layout = &all->at[at];
    int32_t order[CLV_MESH_AXES_MAX], n = 0, slot = -2;
    pattern p = { .at = at };

    clv_layout_order(layout, order);
    for (int32_t i = 0; i < CLV_MESH_AXES_MAX; i++) {
        int32_t a = order[i], dim = layout->dim[a], size = all->mesh->size[a], parts = 1;
        if (dim == CLV_AXIS_COPY)
            break;
        int32_t next =
            dim == CLV_AXIS_PARTIAL ? -1 : slot_of(all, dim, layout->outer[a], layout->unit[a]);
        int64_t end = dim >= 0 ? all->tensor.dims[dim] : 0; /* of the factor that it splits */
        bool uneven = false;
        for (int32_t b = 0; dim >= 0 && b < CLV_MESH_AXES_MAX; b++) {
            if (layout->dim[b] == dim && layout->outer[b] == layout->outer[a]) {
                parts *= all->mesh->size[b];
                uneven |= all->tensor.share[b] != NULL;
            }
            if (layout->dim[b] == dim && layout->outer[b] > layout->outer[a] &&
                layout->outer[b] < end)
                end = layout->outer[b];
        }
        uneven |= dim >= 0 && end / layout->outer[a] / layout->unit[a] % parts != 0;
        if (next == slot && !uneven) { /* one more axis on the same even split */
            p.count[n - 1] = (int16_t)(p.count[n - 1] * size);
            continue;
        }
        p.slot[n] = (int16_t)(next + 2); /* 0: nothing */
        p.place[n] = (int16_t)(next == slot ? p.place[n - 1] + 1 : 0);
        p.count[n] = (int16_t)size;
        p.axis[n++] = (int16_t)(uneven && all->tensor.share[a] ? a + 1 : 0);
        slot = next;
    }
    return p;
}

static int by_parts(const void *x, const void *y)
{
    const pattern *a = x, *b = y;
    int d = memcmp(a, b, offsetof(pattern, at));
    return d ? d : (a->at > b->at) - (a->at < b->at);
}

static clv_status find_alike(clv_layouts *all, clv_arena *arena, clv_error *err)
{
    size_t n = (size_t)all->n;
    int32_t *alike = CLV_NEW_ARRAY(arena, int32_t, n), *from = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t *to = CLV_NEW_ARRAY(arena, int32_t, n);
    clv_mark mark = clv_arena_mark(arena);
    pattern *p = CLV_NEW_ARRAY(arena, pattern, n);

    if (!alike || !from || !to || !p)
        return clv_fail_nomem(err, "the layouts of a tensor");
    for (int32_t i = 0; i < all->n; i++)
        p[i] = pattern_of(all, i);
    qsort(p, n, sizeof *p, by_parts);
    for (int32_t i = 0, first = 0; i < all->n; i++) {
        alike[i] = p[i].at;
        if (i + 1 < all->n && memcmp(&p[i], &p[i + 1], offsetof(pattern, at)) == 0)
            continue;
        for (; first <= i; first++) {
            from[p[first].at] = i; /* for now the last one */
            to[p[first].at] = i + 1;
        }
    }
    for (int32_t i = 0, first = 0; i < all->n; i++) {
        from[alike[i]] = first;
        if (i + 1 == to[alike[i]])
            first = i + 1;
    }
    clv_arena_rewind(arena, mark);
    all->alike = alike;
    all->alike_from = from;
    all->alike_to = to;
    return CLV_OK;
}

static clv_status measure(clv_layouts *all, clv_arena *arena, clv_error *err)
{
    int32_t rank = all->tensor.rank;
    int64_t *bytes = CLV_NEW_ARRAY(arena, int64_t, all->n);
    int64_t *elems = CLV_NEW_ARRAY(arena, int64_t, (size_t)all->n * (size_t)rank);

    if (!bytes || !elems)
        return clv_fail_nomem(err, "the layouts of a tensor");
    for (int32_t i = 0; i < all->n; i++) {
        bytes[i] = clv_layout_bytes(&all->at[i], all->mesh, &all->tensor);
        for (int32_t d = 0; d < rank; d++)
            elems[i * rank + d] = clv_layout_along(&all->at[i], all->mesh, &all->tensor, d);
    }
    all->bytes = bytes;
    all->along = elems;
    all->simple = true;
    for (int32_t s = 0; s < all->n_slots; s++)
        all->simple = all->simple && all->slot[s].outer == 1 && all->slot[s].unit == 1;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        all->simple = all->simple && !all->tensor.share[a];
    return CLV_OK;
}

clv_status clv_layouts_make(const clv_mesh *mesh, const clv_tensor_split *tensor, clv_slots more,
                            clv_arena *arena, const clv_layouts **ret, clv_error *err)
{
    clv_layouts *all = CLV_NEW(arena, clv_layouts);
    int64_t *dims = CLV_NEW_ARRAY(arena, int64_t, tensor->rank);
    maker m = { .all = all, .arena = arena };

    if (!all || !dims)
        return clv_fail_nomem(err, "the layouts of a tensor");
    for (int32_t d = 0; d < tensor->rank; d++)
        dims[d] = tensor->dims[d];
    *all = (clv_layouts){ .mesh = mesh, .tensor = *tensor };
    all->tensor.dims = dims;
    CLV_TRY(add_slots(all, more, err));
    int32_t base = all->n_slots + FIRST_SLOT;
    for (int32_t digits = 0; digits < base * base * base; digits++)
        for (int32_t nest = 0, n = count_nests(all, digits); nest < n; nest++)
            CLV_TRY(add_layout(&m, digits * NESTS + nest, err));
    all->at = m.at;
    all->key = m.key;
    all->n = m.n;
    CLV_TRY(measure(all, arena, err));
    CLV_TRY(find_alike(all, arena, err));
    *ret = all;
    return CLV_OK;
}
