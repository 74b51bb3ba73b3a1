#include "lower/plan_target.h"

#include "base/map.h"
#include "lower/spmd_make.h"
#include "plan/plan_copies.h"

#define WHAT "the shards of a plan"

typedef struct {
    const clv_spmd *s;
    clv_arena *arena;
    const clv_layout **layout; /* by weight: in which it is needed; NULL: not yet */
    bool *differs;             /* by weight: in different ones */
    clv_map seen;              /* (weight, device): in the target already */
    clv_weight_shard *shards;
    int32_t n, cap;
} builder;

static int32_t weight_of(const builder *b, const clv_spmd_value *v)
{
    return clv_tensor_at(b->s->model->main, v->tensor)->weight;
}

static clv_status add_shard(builder *b, const clv_spmd_value *v, int32_t position, clv_error *err)
{
    int32_t w = weight_of(b, v), device = b->s->phases[v->phase].device[position], id;
    int32_t key[2] = { w, device };
    clv_spmd_shard part = { v->tensor, b->differs[w] ? CLV_LAYOUT_COPIES : v->layout, position };
    clv_weight_shard shard = { .weight = w, .device = device };
    CLV_TRY(clv_map_put_key(&b->seen, key, sizeof key, b->n, &id, err));
    if (id != b->n)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(b->arena, b->shards, b->n, b->cap))
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_spmd_box(b->s, &part, b->arena, &shard.box, err));
    if (clv_box_elems(&shard.box) > 0 || b->s->model->main->weights[w].bytes <= 0)
        b->shards[b->n++] = shard; /* else this device has nothing of it */
    return CLV_OK;
}

/* The devices of further copies have what their counterparts of the first have. */
static clv_status copy_shards(builder *b, const clv_plan *plan, clv_error *err)
{
    int32_t n = b->n, *place;
    CLV_TRY(clv_plan_places(plan, b->arena, &place, err));
    for (int32_t c = 1; c < plan->n_copies; c++)
        for (int32_t i = 0; i < n; i++) {
            if (!CLV_PUSH_ROOM(b->arena, b->shards, b->n, b->cap))
                return clv_fail_nomem(err, WHAT);
            b->shards[b->n] = b->shards[i];
            b->shards[b->n++].device =
                plan->copy_device[c * plan->copy_devices + place[b->shards[i].device]];
        }
    return CLV_OK;
}

clv_status clv_plan_target(const clv_model *model, const clv_types *types, const clv_plan *plan,
                           clv_arena *arena, clv_weight_layout *ret, clv_error *err)
{
    clv_spmd *s;
    int32_t n = model->main->n_weights;
    CLV_TRY(clv_spmd_make(model, types, plan, arena, &s, err));
    builder b = { .s = s,
                  .arena = arena,
                  .layout = CLV_NEW_ARRAY(arena, const clv_layout *, n),
                  .differs = CLV_NEW_ARRAY(arena, bool, n) };
    const char **names = CLV_NEW_ARRAY(arena, const char *, plan->n_devices);
    if (!b.layout || !b.differs || !names)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_map_init(&b.seen, arena, n, err));
    for (int32_t i = 0; i < s->n_values; i++) {
        const clv_spmd_value *v = &s->values[i];
        if (v->role != CLV_SPMD_WEIGHT)
            continue;
        int32_t w = weight_of(&b, v);
        if (b.layout[w] && !clv_layout_equal(b.layout[w], &v->layout))
            b.differs[w] = true;
        b.layout[w] = &v->layout;
    }
    for (int32_t i = 0; i < s->n_values; i++) {
        const clv_spmd_value *v = &s->values[i];
        const clv_const *w =
            v->role == CLV_SPMD_WEIGHT ? &model->main->weights[weight_of(&b, v)] : NULL;
        /* sparse weights and texts are not cut, nor shared out */
        for (int32_t p = 0; w && !w->sparse && w->dtype != CLV_DT_STRING && p < s->mesh.n_devices;
             p++)
            CLV_TRY(add_shard(&b, v, p, err));
    }
    CLV_TRY(copy_shards(&b, plan, err));
    for (int32_t d = 0; d < plan->n_devices; d++)
        names[d] = plan->devices[d].name;
    *ret = (clv_weight_layout){
        .devices = names, .n_devices = plan->n_devices, .shards = b.shards, .n_shards = b.n
    };
    return CLV_OK;
}
