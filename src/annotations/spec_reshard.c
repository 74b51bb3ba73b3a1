#include "annotations/spec_reshard.h"

#include <stdio.h>
#include <stdlib.h>

#include "cost/resharder.h"
#include "notation/layout_spec.h"

#define DEVICES_MAX CLV_DEVICES_MAX /* of one move */

/* Links of no machine in particular: an NVLink port of today. Only what is cheaper than what is
 * taken from it, and that hardly depends on it. */
#define LINK_BYTES_PER_S 4.5e11
#define LINK_NS          2000

typedef struct {
    const clv_mesh *mesh;
    clv_resharder *resharder; /* NULL until it is needed */
} form;

typedef struct {
    int32_t n_devices;
    const clv_cluster *cluster;
    form *forms; /* the fewer axes the earlier */
    int32_t n, cap;
} sized;

struct clv_spec_resharder {
    clv_arena *arena;
    sized *sizes;
    int32_t n, cap;
};

clv_status clv_spec_resharder_new(clv_arena *arena, clv_spec_resharder **ret, clv_error *err)
{
    clv_spec_resharder *m = CLV_NEW(arena, clv_spec_resharder);

    if (!m)
        return clv_fail_nomem(err, "the steps between specs");
    m->arena = arena;
    *ret = m;
    return CLV_OK;
}

/* -- meshes of n devices -- */

static clv_status all_alike(int32_t n, clv_arena *arena, const clv_cluster **ret, clv_error *err)
{
    clv_cluster *c = CLV_NEW(arena, clv_cluster);
    size_t n_routes = (size_t)n * (size_t)n;
    clv_port *ports = CLV_NEW_ARRAY(arena, clv_port, 2 * n);
    clv_device *devices = CLV_NEW_ARRAY(arena, clv_device, n);
    clv_device_kind *kind = CLV_NEW(arena, clv_device_kind);
    clv_route *routes = CLV_NEW_ARRAY(arena, clv_route, n_routes);
    int32_t *taken = CLV_NEW_ARRAY(arena, int32_t, 2 * n_routes);

    if (!c || !ports || !devices || !kind || !routes || !taken)
        return clv_fail_nomem(err, "the steps between specs");
    kind->name = kind->vendor = "device";
    for (int32_t i = 0; i < n; i++) {
        devices[i].name = "device";
        ports[2 * i] = (clv_port){ "out", LINK_BYTES_PER_S };
        ports[2 * i + 1] = (clv_port){ "in", LINK_BYTES_PER_S };
        for (int32_t j = 0; j < n; j++) {
            int32_t at = i * n + j;
            taken[2 * at] = 2 * i;
            taken[2 * at + 1] = 2 * j + 1;
            routes[at] = (clv_route){ "link", LINK_NS, LINK_BYTES_PER_S, taken + 2 * at, 2 };
        }
    }
    *c = (clv_cluster){ "alike", 1, n, 2 * n, kind, devices, ports, routes };
    *ret = c;
    return CLV_OK;
}

static clv_status add_form(clv_spec_resharder *m, sized *s, const clv_mesh_form *shape,
                           clv_error *err)
{
    form f = { NULL, NULL };

    if (!CLV_PUSH_ROOM(m->arena, s->forms, s->n, s->cap))
        return clv_fail_nomem(err, "the steps between specs");
    CLV_TRY(clv_mesh_make(shape, s->cluster, CLV_MESH_ALL_DEVICES, m->arena, &f.mesh, err));
    s->forms[s->n++] = f;
    return CLV_OK;
}

/* All ways to write what is left as a product of so many sizes of at least 2. */
static clv_status add_forms(clv_spec_resharder *m, sized *s, const clv_mesh_form *so_far,
                            int32_t left, int32_t n_axes, clv_error *err)
{
    clv_mesh_form next = *so_far;

    if (n_axes == 1) {
        next.size[next.n_axes++] = left;
        return add_form(m, s, &next, err);
    }
    next.n_axes++;
    for (int32_t size = 2; size <= left / 2; size++) {
        next.size[so_far->n_axes] = size;
        if (left % size == 0)
            CLV_TRY(add_forms(m, s, &next, left / size, n_axes - 1, err)); /* three deep */
    }
    return CLV_OK;
}

static clv_status forms_of(clv_spec_resharder *m, int32_t n_devices, sized **ret, clv_error *err)
{
    const clv_mesh_form none = { 0 };

    for (int32_t i = 0; i < m->n; i++)
        if (m->sizes[i].n_devices == n_devices) {
            *ret = &m->sizes[i];
            return CLV_OK;
        }
    if (!CLV_PUSH_ROOM(m->arena, m->sizes, m->n, m->cap))
        return clv_fail_nomem(err, "the steps between specs");
    sized s = { .n_devices = n_devices };
    CLV_TRY(all_alike(n_devices, m->arena, &s.cluster, err));
    for (int32_t n_axes = 1; n_axes <= CLV_MESH_AXES_MAX; n_axes++)
        CLV_TRY(add_forms(m, &s, &none, n_devices, n_axes, err));
    m->sizes[m->n] = s;
    *ret = &m->sizes[m->n++];
    return CLV_OK;
}

/* -- specs on devices 0 to n - 1 -- */

typedef struct {
    const clv_spec_reshard_request *req;
    clv_spec_resharder *movers;
    clv_arena *arena;
    clv_error *err;
    int64_t *device; /* that take part, ascending */
    int32_t n;       /* 0: too many */
} move;

static const clv_device_group *group_of(const clv_sharding_spec *spec, int64_t id)
{
    for (int32_t g = 0; g < spec->n_groups; g++)
        if (spec->groups[g].key == id)
            return &spec->groups[g];
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool collect(move *m, const clv_sharding_spec *spec, int32_t room)
{
    if (spec->n_groups > DEVICES_MAX)
        return false;
    for (int32_t i = 0; i < spec->n_device; i++) {
        const clv_device_group *group = group_of(spec, spec->device[i]);
        int32_t n = group ? group->n_devices : 1;
        if (n > room - m->n)
            return false;
        memcpy(m->device + m->n, group ? group->devices : &spec->device[i],
               (size_t)n * sizeof *m->device);
        m->n += n;
    }
    return true;
}

static clv_status find_devices(move *m)
{
    const int32_t room = 2 * DEVICES_MAX; /* both specs */
    int32_t n = 0;

    m->device = CLV_NEW_ARRAY(m->arena, int64_t, room);
    if (!m->device)
        return clv_fail_nomem(m->err, "the steps between specs");
    if ((m->req->from && !collect(m, m->req->from, room)) || !collect(m, m->req->to, room)) {
        m->n = 0;
        return CLV_OK;
    }
    qsort(m->device, (size_t)m->n, sizeof *m->device, by_value);
    for (int32_t i = 0; i < m->n; i++)
        if (i == 0 || m->device[i] != m->device[n - 1])
            m->device[n++] = m->device[i];
    m->n = n <= DEVICES_MAX ? n : 0;
    return CLV_OK;
}

static int64_t number_of(const move *m, int64_t device)
{
    const int64_t *at = bsearch(&device, m->device, (size_t)m->n, sizeof *at, by_value);
    return at ? at - m->device : 0;
}

static clv_status renumber(const move *m, const clv_sharding_spec *spec, clv_sharding_spec *ret)
{
    int64_t *device = CLV_NEW_ARRAY(m->arena, int64_t, spec->n_device);
    clv_device_group *groups = CLV_NEW_ARRAY(m->arena, clv_device_group, spec->n_device);

    if (!device || !groups)
        return clv_fail_nomem(m->err, "the steps between specs");
    *ret = *spec;
    ret->device = device;
    ret->groups = groups;
    ret->n_groups = 0;
    for (int32_t i = 0; i < spec->n_device; i++) {
        const clv_device_group *group = group_of(spec, spec->device[i]);
        device[i] = group ? -(int64_t)(i + 1) : number_of(m, spec->device[i]);
        if (!group)
            continue;
        int64_t *members = CLV_NEW_ARRAY(m->arena, int64_t, group->n_devices);
        if (!members)
            return clv_fail_nomem(m->err, "the steps between specs");
        for (int32_t k = 0; k < group->n_devices; k++)
            members[k] = number_of(m, group->devices[k]);
        groups[ret->n_groups++] = (clv_device_group){ device[i], members, group->n_devices };
    }
    return CLV_OK;
}

/* -- specs as layouts -- */

/* Axes that split the dimension in front, of summands, have partial results. */
static void lower(clv_layout *layout, clv_reduce reduce)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        if (layout->dim[a] == 0) {
            layout->dim[a] = CLV_AXIS_PARTIAL;
            layout->nest[a] = 0;
            layout->outer[a] = 1;
            layout->unit[a] = 1;
            layout->reduce[a] = (int8_t)reduce;
        } else if (layout->dim[a] > 0) {
            layout->dim[a]--;
        }
    }
}

static clv_status from_layout(const move *m, const clv_mesh *mesh, const clv_sharding_spec *from,
                              clv_layout *ret, bool *ret_found)
{
    int64_t dims[CLV_RANK_MAX + 1];
    const clv_type *type = m->req->type;
    bool summands = m->req->summands;
    const clv_tensor_split tensor = { .rank = type->rank + summands, .dims = dims };
    const clv_layout *found = NULL;

    *ret = CLV_LAYOUT_COPIES;
    *ret_found = !m->req->from;
    if (!m->req->from || type->rank + summands > CLV_RANK_MAX)
        return CLV_OK;
    dims[0] = m->req->n_summands;
    for (int32_t i = 0; i < type->rank; i++)
        dims[i + summands] = type->dims[i];
    CLV_TRY(clv_layout_from_spec(from, mesh, &tensor, m->arena, &found, m->err));
    *ret_found = found != NULL;
    if (found)
        *ret = *found;
    if (*ret_found && summands)
        lower(ret, m->req->reduce);
    return CLV_OK;
}

static clv_status chain_on(const move *m, const sized *s, form *f, const clv_sharding_spec *from,
                           const clv_sharding_spec *to, clv_chain *ret, bool *ret_found)
{
    const clv_tensor_split tensor = { .rank = m->req->type->rank, .dims = m->req->type->dims };
    const clv_layout *b = NULL;
    clv_layout a;
    clv_error inner = { .message = "" };

    CLV_TRY(from_layout(m, f->mesh, from, &a, ret_found));
    if (!*ret_found)
        return CLV_OK;
    CLV_TRY(clv_layout_from_spec(to, f->mesh, &tensor, m->arena, &b, m->err));
    *ret_found = b != NULL;
    if (!b)
        return CLV_OK;
    if (!f->resharder)
        CLV_TRY(
            clv_resharder_new(f->mesh, s->cluster, NULL, m->movers->arena, &f->resharder, m->err));
    clv_relayout asked = { m->req->type, &a, b };
    clv_status status = clv_resharder_chain(f->resharder, &asked, m->arena, ret, &inner);
    *ret_found = status == CLV_OK;
    return status == CLV_ENOMEM ? clv_fail_nomem(m->err, "the steps between specs") : CLV_OK;
}

/* -- steps -- */

static clv_status put_chain(const move *m, const form *f, const clv_chain *chain,
                            const clv_shard_step **ret, int32_t *ret_n)
{
    clv_shard_step *steps = CLV_NEW_ARRAY(m->arena, clv_shard_step, chain->n);

    if (!steps)
        return clv_fail_nomem(m->err, "the steps between specs");
    for (int32_t i = 0; i < chain->n; i++)
        steps[i] =
            (clv_shard_step){ clv_step_name(chain->steps[i].kind),
                              clv_mesh_count(f->mesh, chain->steps[i].axes), chain->steps[i].sent };
    *ret = steps;
    *ret_n = chain->n;
    return CLV_OK;
}

static clv_status put_fetch(const move *m, const clv_shard_step **ret, int32_t *ret_n)
{
    clv_shard_step *step = CLV_NEW(m->arena, clv_shard_step);
    int64_t bytes = 0;

    if (!step)
        return clv_fail_nomem(m->err, "the steps between specs");
    for (int32_t i = 0; i < m->req->to_shards->n; i++)
        if (m->req->to_shards->at[i].bytes > bytes)
            bytes = m->req->to_shards->at[i].bytes;
    *step = (clv_shard_step){ "point-to-point", m->n, bytes };
    *ret = step;
    *ret_n = 1;
    return CLV_OK;
}

static clv_status find_steps(move *m, const clv_shard_step **ret, int32_t *ret_n)
{
    clv_sharding_spec from = { 0 }, to;
    sized *s = NULL;

    CLV_TRY(find_devices(m));
    if (m->n == 0)
        return put_fetch(m, ret, ret_n);
    if (m->req->from)
        CLV_TRY(renumber(m, m->req->from, &from));
    CLV_TRY(renumber(m, m->req->to, &to));
    CLV_TRY(forms_of(m->movers, m->n, &s, m->err));
    for (int32_t i = 0; i < s->n; i++) {
        clv_chain chain;
        bool found = false;
        CLV_TRY(chain_on(m, s, &s->forms[i], &from, &to, &chain, &found));
        if (found)
            return put_chain(m, &s->forms[i], &chain, ret, ret_n);
    }
    return put_fetch(m, ret, ret_n);
}

clv_status clv_spec_reshard(clv_spec_resharder *movers, const clv_spec_reshard_request *req,
                            clv_arena *arena, const clv_shard_step **ret, int32_t *ret_n,
                            clv_error *err)
{
    move m = { .req = req, .movers = movers, .arena = arena, .err = err };

    return find_steps(&m, ret, ret_n);
}
