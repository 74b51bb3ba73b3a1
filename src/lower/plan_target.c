#include "lower/plan_target.h"

#include "base/map.h"
#include "lower/spmd_make.h"

#define WHAT "the shards of a plan"

typedef struct {
    const clv_spmd *s;
    clv_arena *arena;
    clv_error *err;
    const clv_layout **layout; /* by weight: in which it is needed; NULL: not yet */
    bool *twice;               /* by weight: in different ones */
    clv_map seen;              /* (weight, device): in the target already */
    clv_target_shard *shards;
    int32_t n, cap;
} maker;

static clv_status no_memory(const maker *m) { return clv_fail_nomem(m->err, WHAT); }

static int32_t weight_of(const maker *m, const clv_spmd_value *v)
{
    return clv_tensor_at(m->s->model->main, v->tensor)->weight;
}

/* Sparse weights and texts are not cut, nor shared out. */
static bool has_bytes(const maker *m, const clv_spmd_value *v)
{
    const clv_const *w = &m->s->model->main->weights[weight_of(m, v)];
    return !w->sparse && w->dtype != CLV_DT_STRING;
}

static clv_status add_shard(maker *m, const clv_spmd_value *v, int32_t position)
{
    int32_t w = weight_of(m, v), device = m->s->phases[v->phase].device[position], id;
    int32_t key[2] = { w, device };
    clv_layout copies = CLV_LAYOUT_COPIES;
    CLV_TRY(clv_map_put_key(&m->seen, key, sizeof key, m->n, &id, m->err));
    if (id != m->n)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(m->arena, m->shards, m->n, m->cap))
        return no_memory(m);
    clv_target_shard *shard = &m->shards[m->n++];
    *shard = (clv_target_shard){ .weight = w, .device = device };
    CLV_TRY(clv_spmd_box(m->s,
                         &(clv_spmd_shard){ v->tensor, m->twice[w] ? copies : v->layout, position },
                         m->arena, &shard->box, m->err));
    if (clv_box_elems(&shard->box) == 0 && m->s->model->main->weights[w].bytes > 0)
        m->n--; /* this device has nothing of it */
    return CLV_OK;
}

static void look_for_two_ways(maker *m)
{
    for (int32_t i = 0; i < m->s->n_values; i++) {
        const clv_spmd_value *v = &m->s->values[i];
        if (v->role != CLV_SPMD_WEIGHT)
            continue;
        int32_t w = weight_of(m, v);
        if (m->layout[w] && !clv_layout_equal(m->layout[w], &v->layout))
            m->twice[w] = true;
        m->layout[w] = &v->layout;
    }
}

clv_status clv_plan_target(const clv_model *model, const clv_types *types, const clv_plan *plan,
                           clv_arena *arena, clv_target *ret, clv_error *err)
{
    clv_spmd *s;
    int32_t n = model->main->n_weights;
    CLV_TRY(clv_spmd_make(model, types, plan, arena, &s, err));
    maker m = { .s = s,
                .arena = arena,
                .err = err,
                .layout = CLV_NEW_ARRAY(arena, const clv_layout *, n),
                .twice = CLV_NEW_ARRAY(arena, bool, n) };
    const char **names = CLV_NEW_ARRAY(arena, const char *, plan->n_devices);
    if (!m.layout || !m.twice || !names)
        return no_memory(&m);
    CLV_TRY(clv_map_init(&m.seen, arena, n, err));
    look_for_two_ways(&m);
    for (int32_t i = 0; i < s->n_values; i++)
        for (int32_t p = 0; s->values[i].role == CLV_SPMD_WEIGHT && p < s->mesh.n_devices; p++)
            if (has_bytes(&m, &s->values[i]))
                CLV_TRY(add_shard(&m, &s->values[i], p));
    for (int32_t d = 0; d < plan->n_devices; d++)
        names[d] = plan->devices[d].name;
    *ret = (clv_target){
        .devices = names, .n_devices = plan->n_devices, .shards = m.shards, .n_shards = m.n
    };
    return CLV_OK;
}
