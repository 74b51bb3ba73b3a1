#include "support/layout_sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "cluster/route.h"

clv_cluster *sim_cluster(clv_arena *arena, int32_t n)
{
    clv_cluster *c = CLV_NEW(arena, clv_cluster);
    clv_device *d = CLV_NEW_ARRAY(arena, clv_device, n);
    clv_device_kind *kind = CLV_NEW(arena, clv_device_kind);
    clv_level level = { "wire", n, { 1e9, 1000, 1, CLV_ASSUMED } };
    kind->name = "chip";
    for (int32_t i = 0; i < n; i++)
        d[i].name = clv_arena_printf(arena, "d%d", (int)i);
    *c = (clv_cluster){ .name = "test", .n_kinds = 1, .kinds = kind, .n_devices = n, .devices = d };
    if (clv_routes_by_levels(c, &level, 1, arena, NULL) != CLV_OK)
        abort();
    return c;
}

const clv_mesh *sim_mesh(clv_arena *arena, const char *text)
{
    const clv_mesh *mesh = NULL;
    clv_mesh_form form;
    if (clv_mesh_form_parse(text, arena, &form, NULL) != CLV_OK)
        abort();
    clv_cluster *c = sim_cluster(arena, form.size[0] * form.size[1] * form.size[2]);
    if (clv_mesh_make(&form, c, CLV_MESH_ALL_DEVICES, arena, &mesh, NULL) != CLV_OK)
        abort();
    return mesh;
}

int64_t sim_element(int32_t e) { return 1000 + 37 * e; }

/* Does a device's part have an element? The split dims have the same elements in the same order. */
static void mark(const clv_mesh *mesh, const clv_tensor_split *tensor, const clv_layout *layout,
                 int32_t position, int32_t n_elems, bool *ret)
{
    clv_split_dims dims;
    clv_part part;
    clv_split_dims_of(layout, tensor, &dims);
    clv_layout_part(layout, mesh, tensor, &dims, position, &part);
    for (int32_t e = 0; e < n_elems; e++) {
        int64_t rest = e;
        ret[e] = true;
        for (int32_t i = dims.rank - 1; i >= 0; i--) {
            int64_t at = rest % dims.dims[i];
            rest /= dims.dims[i];
            ret[e] = ret[e] && at >= part.offset[i] && at < part.offset[i] + part.size[i];
        }
    }
}

/* Which of the partial results of its group a device has; devices with the same one agree. */
static int32_t share_of(const clv_mesh *mesh, uint32_t axes, int32_t position)
{
    int32_t at = 0;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (axes & 1u << a)
            at = at * mesh->size[a] + clv_mesh_coord(mesh, position, a);
    return at;
}

void sim_lay_out(sim *s, const clv_mesh *mesh, const clv_tensor_split *tensor,
                 const clv_layout *layout)
{
    uint32_t partial = clv_layout_partial_axes(layout);
    int32_t n = clv_mesh_count(mesh, partial);

    s->mesh = mesh;
    s->tensor = tensor;
    s->layout = *layout;
    s->n_elems = 1;
    for (int32_t d = 0; d < tensor->rank; d++)
        s->n_elems *= (int32_t)tensor->dims[d];
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        int32_t k = share_of(mesh, partial, p);
        mark(mesh, tensor, layout, p, s->n_elems, s->has[p]);
        for (int32_t e = 0; e < s->n_elems; e++) {
            int64_t rest = sim_element(e);
            for (int32_t i = 0; i < n - 1; i++)
                rest -= (e * 7 + i * 13) % 31 - 15;
            s->value[p][e] = k < n - 1 ? (e * 7 + k * 13) % 31 - 15 : rest;
        }
    }
}

static char words[200];

static const char *fault(const char *what, int32_t p, int32_t e)
{
    snprintf(words, sizeof words, "%s (position %d, element %d)", what, (int)p, (int)e);
    return words;
}

/* Devices of p's group over the axes. */
static int32_t group_of(const clv_mesh *mesh, uint32_t axes, int32_t p, int32_t *ret)
{
    int32_t n = 0;
    for (int32_t q = 0; q < mesh->n_devices; q++) {
        bool in = true;
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (!(axes & 1u << a) && clv_mesh_coord(mesh, p, a) != clv_mesh_coord(mesh, q, a))
                in = false;
        if (in)
            ret[n++] = q;
    }
    return n;
}

static const char *take(const sim *old, sim *s, int32_t p, const int32_t *from, int32_t n,
                        bool reduce, int64_t *pair)
{
    int64_t got[SIM_DEVICES] = { 0 };
    for (int32_t e = 0; e < s->n_elems; e++) {
        int32_t owners = 0;
        int64_t value = 0;
        for (int32_t i = 0; s->has[p][e] && i < n; i++) {
            if (!old->has[from[i]][e])
                continue;
            owners++;
            got[i]++;
            value += old->value[from[i]][e];
        }
        if (s->has[p][e] && owners != (reduce ? n : 1))
            return fault("wrong number of devices have an element", p, e);
        s->value[p][e] = value;
    }
    for (int32_t i = 0; i < n; i++)
        *pair = from[i] != p && got[i] > *pair ? got[i] : *pair;
    return NULL;
}

static const char *permute(const sim *old, sim *s, int64_t *pair)
{
    int32_t before[CLV_MESH_AXES_MAX], after[CLV_MESH_AXES_MAX];
    clv_layout_order(&old->layout, before);
    clv_layout_order(&s->layout, after);
    for (int32_t p = 0; p < s->mesh->n_devices; p++)
        for (int32_t q = 0; q < s->mesh->n_devices; q++) {
            if (clv_mesh_count_of(s->mesh, after, p) != clv_mesh_count_of(s->mesh, before, q))
                continue;
            int64_t n = 0;
            for (int32_t e = 0; e < s->n_elems; e++) {
                if (s->has[p][e] != old->has[q][e])
                    return fault("a permuted part is another one", p, e);
                s->value[p][e] = old->value[q][e];
                n += old->has[q][e];
            }
            *pair = n > *pair ? n : *pair;
        }
    return NULL;
}

/* What a device has by itself. */
static const char *keep(const sim *old, sim *s, int32_t p, bool neutral, uint32_t axes)
{
    for (int32_t e = 0; e < s->n_elems; e++) {
        if (s->has[p][e] && !old->has[p][e])
            return fault("a device is to keep what it does not have", p, e);
        bool first = share_of(s->mesh, axes, p) == 0;
        s->value[p][e] = neutral && !first ? 0 : old->value[p][e];
    }
    return NULL;
}

const char *sim_step(sim *s, clv_step_kind kind, uint32_t axes, const clv_layout *to,
                     int64_t *ret_pair)
{
    static sim old;
    int32_t group[SIM_DEVICES];
    const char *wrong = NULL;

    old = *s;
    s->layout = *to;
    *ret_pair = 0;
    for (int32_t p = 0; p < s->mesh->n_devices; p++)
        mark(s->mesh, s->tensor, to, p, s->n_elems, s->has[p]);
    if (kind == CLV_STEP_PERMUTE)
        return permute(&old, s, ret_pair);
    for (int32_t p = 0; !wrong && p < s->mesh->n_devices; p++) {
        int32_t n = group_of(s->mesh, axes, p, group);
        if (kind == CLV_STEP_SLICE || kind == CLV_STEP_NEUTRAL)
            wrong = keep(&old, s, p, kind == CLV_STEP_NEUTRAL, axes);
        else
            wrong = take(&old, s, p, group, n,
                         kind == CLV_STEP_REDUCE_SCATTER || kind == CLV_STEP_ALL_REDUCE, ret_pair);
    }
    return wrong;
}

const char *sim_check(const sim *s)
{
    uint32_t partial = clv_layout_partial_axes(&s->layout);
    static bool want[SIM_ELEMS];
    int32_t group[SIM_DEVICES];

    for (int32_t p = 0; p < s->mesh->n_devices; p++) {
        int32_t n = group_of(s->mesh, partial, p, group);
        mark(s->mesh, s->tensor, &s->layout, p, s->n_elems, want);
        for (int32_t e = 0; e < s->n_elems; e++) {
            int64_t sum = 0;
            if (want[e] != s->has[p][e])
                return fault("a device has not its part", p, e);
            for (int32_t i = 0; i < n; i++)
                sum += s->value[group[i]][e];
            if (want[e] && sum != sim_element(e))
                return fault("an element is wrong", p, e);
        }
    }
    return NULL;
}
