#include "annotations/spec_reshard.h"

#include <stdlib.h>

#include "cluster/alike_devices.h"
#include "cost/resharder.h"
#include "notation/layout_spec.h"
#include "sharding/mesh_levels.h"

#define DEVICES_MAX CLV_DEVICES_MAX /* of one tensor */

typedef struct {
    const clv_cluster *cluster;
    const clv_mesh *mesh;
    clv_resharder *resharder; /* NULL until it is needed */
} form;

/* All meshes of so many devices, the fewer axes the earlier. */
typedef struct {
    int32_t n_devices, n;
    form *forms;
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

static clv_status find_forms(clv_spec_resharder *r, int32_t n_devices, const sized **ret,
                             clv_error *err)
{
    const clv_link_levels alike = { .n_devices = n_devices, .n_levels = 1, .size = &n_devices };
    const clv_mesh_form *shapes = NULL;
    const clv_cluster *cluster = NULL;

    for (int32_t i = 0; i < r->n; i++)
        if (r->sizes[i].n_devices == n_devices) {
            *ret = &r->sizes[i];
            return CLV_OK;
        }
    sized s = { .n_devices = n_devices };
    CLV_TRY(clv_cluster_of_alike(n_devices, r->arena, &cluster, err));
    CLV_TRY(clv_mesh_forms(&alike, CLV_MESH_AXES_MAX, r->arena, &shapes, &s.n, err));
    s.forms = CLV_NEW_ARRAY(r->arena, form, s.n);
    if (!s.forms || !CLV_PUSH_ROOM(r->arena, r->sizes, r->n, r->cap))
        return clv_fail_nomem(err, "the steps between specs");
    for (int32_t i = 0; i < s.n; i++) {
        s.forms[i].cluster = cluster;
        CLV_TRY(clv_mesh_make(&shapes[i], cluster, CLV_MESH_ALL_DEVICES, r->arena, &s.forms[i].mesh,
                              err));
    }
    r->sizes[r->n] = s;
    *ret = &r->sizes[r->n++];
    return CLV_OK;
}

/* -- specs on devices 0 to n - 1 -- */

typedef struct {
    const clv_spec_reshard_request *req;
    clv_spec_resharder *resharder;
    clv_arena *arena;
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

static bool collect_devices(move *m, const clv_sharding_spec *spec, int32_t room)
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

static clv_status find_devices(move *m, clv_error *err)
{
    const int32_t room = 2 * DEVICES_MAX; /* both specs */
    int32_t n = 0;

    m->device = CLV_NEW_ARRAY(m->arena, int64_t, room);
    if (!m->device)
        return clv_fail_nomem(err, "the steps between specs");
    if ((m->req->from && !collect_devices(m, m->req->from, room)) ||
        !collect_devices(m, m->req->to, room)) {
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

static clv_status renumber(const move *m, const clv_sharding_spec *spec, clv_sharding_spec *ret,
                           clv_error *err)
{
    int64_t *device = CLV_NEW_ARRAY(m->arena, int64_t, spec->n_device);
    clv_device_group *groups = CLV_NEW_ARRAY(m->arena, clv_device_group, spec->n_device);

    if (!device || !groups)
        return clv_fail_nomem(err, "the steps between specs");
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
            return clv_fail_nomem(err, "the steps between specs");
        for (int32_t k = 0; k < group->n_devices; k++)
            members[k] = number_of(m, group->devices[k]);
        groups[ret->n_groups++] = (clv_device_group){ device[i], members, group->n_devices };
    }
    return CLV_OK;
}

/* -- specs as layouts -- */

/* The layout on a mesh that `from`, renumbered, is. *ret_found: there is one. */
static clv_status source_layout(const move *m, const clv_mesh *mesh, const clv_sharding_spec *from,
                                clv_layout *ret, bool *ret_found, clv_error *err)
{
    int64_t dims[CLV_RANK_MAX + 1] = { m->req->n_summands };
    const clv_type *type = m->req->type;
    const bool summands = m->req->summands;
    const clv_tensor_split tensor = { .rank = type->rank + summands, .dims = dims };
    const clv_layout *found = NULL;

    *ret = CLV_LAYOUT_COPIES;
    *ret_found = !m->req->from;
    if (!m->req->from || tensor.rank > CLV_RANK_MAX)
        return CLV_OK;
    for (int32_t i = 0; i < type->rank; i++)
        dims[i + summands] = type->dims[i];
    CLV_TRY(clv_layout_from_spec(from, mesh, &tensor, m->arena, &found, err));
    *ret_found = found != NULL;
    if (found)
        *ret = *found;
    for (int32_t a = 0; found && summands && a < CLV_MESH_AXES_MAX; a++) {
        if (ret->dim[a] == 0) { /* the dimension in front, of summands: partial results */
            ret->dim[a] = CLV_AXIS_PARTIAL;
            ret->nest[a] = 0;
            ret->outer[a] = 1;
            ret->unit[a] = 1;
            ret->reduce[a] = (int8_t)m->req->reduce;
        } else if (ret->dim[a] > 0) {
            ret->dim[a]--;
        }
    }
    return CLV_OK;
}

/* The specs of a move, on devices 0 to n - 1. */
typedef struct {
    clv_sharding_spec from, to;
} renumbered;

/* *ret_found: both are layouts on the mesh, and there is a chain of steps between them. */
static clv_status find_chain(const move *m, const renumbered *specs, form *f, clv_chain *ret,
                             bool *ret_found, clv_error *err)
{
    const clv_type *type = m->req->type;
    const clv_tensor_split tensor = { .rank = type->rank, .dims = type->dims };
    const clv_layout *to = NULL;
    clv_layout from;
    clv_error inner = { .message = "" };

    CLV_TRY(source_layout(m, f->mesh, &specs->from, &from, ret_found, err));
    if (*ret_found)
        CLV_TRY(clv_layout_from_spec(&specs->to, f->mesh, &tensor, m->arena, &to, err));
    *ret_found = to != NULL;
    if (!to)
        return CLV_OK;
    if (!f->resharder)
        CLV_TRY(
            clv_resharder_new(f->mesh, f->cluster, NULL, m->resharder->arena, &f->resharder, err));
    clv_relayout asked = { type, &from, to };
    clv_status status = clv_resharder_chain(f->resharder, &asked, m->arena, ret, &inner);
    *ret_found = status == CLV_OK;
    return status == CLV_ENOMEM ? clv_fail_nomem(err, "the steps between specs") : CLV_OK;
}

/* -- steps -- */

static clv_status collective_steps(const move *m, const clv_mesh *mesh, const clv_chain *chain,
                                   const clv_shard_step **ret, clv_error *err)
{
    clv_shard_step *steps = CLV_NEW_ARRAY(m->arena, clv_shard_step, chain->n);

    if (!steps)
        return clv_fail_nomem(err, "the steps between specs");
    for (int32_t i = 0; i < chain->n; i++)
        steps[i] =
            (clv_shard_step){ clv_step_name(chain->steps[i].kind),
                              clv_mesh_count(mesh, chain->steps[i].axes), chain->steps[i].sent };
    *ret = steps;
    return CLV_OK;
}

clv_status clv_spec_reshard(clv_spec_resharder *resharder, const clv_spec_reshard_request *req,
                            clv_arena *arena, const clv_shard_step **ret, int32_t *ret_n,
                            clv_error *err)
{
    move m = { .req = req, .resharder = resharder, .arena = arena };
    renumbered specs = { { 0 }, { 0 } };
    const sized *s = NULL;
    int64_t bytes = 0;

    CLV_TRY(find_devices(&m, err));
    if (m.n > 0) {
        if (req->from)
            CLV_TRY(renumber(&m, req->from, &specs.from, err));
        CLV_TRY(renumber(&m, req->to, &specs.to, err));
        CLV_TRY(find_forms(resharder, m.n, &s, err));
    }
    for (int32_t i = 0; s && i < s->n; i++) {
        clv_chain chain;
        bool found = false;
        CLV_TRY(find_chain(&m, &specs, &s->forms[i], &chain, &found, err));
        if (!found)
            continue;
        *ret_n = chain.n;
        return collective_steps(&m, s->forms[i].mesh, &chain, ret, err);
    }
    clv_shard_step *step = CLV_NEW(arena, clv_shard_step);
    if (!step)
        return clv_fail_nomem(err, "the steps between specs");
    for (int32_t i = 0; i < req->to_shards->n; i++)
        bytes = req->to_shards->at[i].bytes > bytes ? req->to_shards->at[i].bytes : bytes;
    *step = (clv_shard_step){ "point-to-point", m.n, bytes };
    *ret = step;
    *ret_n = 1;
    return CLV_OK;
}
