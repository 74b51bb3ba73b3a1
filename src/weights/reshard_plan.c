#include "weights/reshard_plan.h"

#include "base/json_out.h"
#include "base/map.h"
#include "weights/box_cover.h"

typedef struct {
    const clv_weights_folder *f;
    const clv_weight_layout *t; /* shards by weight */
    clv_arena *arena;
    clv_weight_move *at;
    int32_t n, cap;
    clv_device_load *devices;
    int32_t n_devices;
    int32_t *device_of; /* by device of the new layout */
    clv_reshard_plan plan;
} planning;

static clv_status merge_devices(planning *p, clv_error *err)
{
    clv_map ids;
    int32_t n_old = p->f->layout.n_devices;
    p->devices = CLV_NEW_ARRAY(p->arena, clv_device_load, n_old + p->t->n_devices);
    p->device_of = CLV_NEW_ARRAY(p->arena, int32_t, p->t->n_devices);
    if (!p->devices || !p->device_of)
        return clv_fail_nomem(err, "the devices of shards");
    CLV_TRY(clv_map_init(&ids, p->arena, n_old, err));
    for (int32_t i = 0; i < n_old + p->t->n_devices; i++) {
        int32_t id = p->n_devices;
        const char *name = i < n_old ? p->f->layout.devices[i] : p->t->devices[i - n_old];
        CLV_TRY(clv_map_put(&ids, clv_str_of(name), id, &id, err));
        if (id == p->n_devices)
            p->devices[p->n_devices++].name = name;
        if (i >= n_old)
            p->device_of[i - n_old] = id;
    }
    return CLV_OK;
}

/* Old shards of one weight, by groups of copies. */
typedef struct {
    const clv_weight_shard *old;
    const clv_shard_place *places;
    int32_t n_old, n_groups;
    int32_t *group_of, *next, *head; /* the copies of a group as a list; next -1: the last */
} old_shards;

static clv_status group_copies(planning *p, old_shards *o, clv_error *err)
{
    const clv_box **boxes = CLV_NEW_ARRAY(p->arena, const clv_box *, o->n_old);
    o->group_of = CLV_NEW_ARRAY(p->arena, int32_t, o->n_old);
    o->next = CLV_NEW_ARRAY(p->arena, int32_t, o->n_old);
    o->head = CLV_NEW_ARRAY(p->arena, int32_t, o->n_old);
    if (!boxes || !o->group_of || !o->next || !o->head)
        return clv_fail_nomem(err, "the shards of a weight");
    for (int32_t i = 0; i < o->n_old; i++) {
        boxes[i] = &o->old[i].box;
        o->head[i] = -1;
    }
    CLV_TRY(clv_boxes_group(boxes, o->n_old, p->arena, o->group_of, &o->n_groups, err));
    for (int32_t i = o->n_old - 1; i >= 0; i--) {
        o->next[i] = o->head[o->group_of[i]];
        o->head[o->group_of[i]] = i;
    }
    return CLV_OK;
}

/* The copy on the device itself, else the one whose device has sent least so far. */
static int32_t choose_copy(const planning *p, const old_shards *o, int32_t group, int32_t device)
{
    int32_t best = o->head[group];
    for (int32_t i = best; i >= 0; i = o->next[i]) {
        if (o->old[i].device == device)
            return i;
        if (p->devices[o->old[i].device].sent_bytes < p->devices[o->old[best].device].sent_bytes)
            best = i;
    }
    return best;
}

static clv_status add_move(planning *p, const old_shards *o, int32_t group,
                           const clv_weight_shard *s, clv_error *err)
{
    int64_t bytes = 0, elems = clv_box_common(&o->old[o->head[group]].box, &s->box);
    if (elems == 0)
        return CLV_OK;
    (void)clv_dtype_bytes(p->f->weights.at[s->weight].dtype, elems, &bytes);
    int32_t to = p->device_of[s->device], i = choose_copy(p, o, group, to), from = o->old[i].device;
    bool stays = from == to; /* old devices come first among all */
    if (!CLV_PUSH_ROOM(p->arena, p->at, p->n, p->cap))
        return clv_fail_nomem(err, "the list of transfers");
    p->at[p->n++] =
        (clv_weight_move){ s->weight, from, s->device, o->places[i].file, stays, bytes };
    if (stays) {
        p->plan.kept_bytes += bytes;
        return CLV_OK;
    }
    p->plan.moved_bytes += bytes;
    p->devices[from].sent_bytes += bytes;
    p->devices[to].received_bytes += bytes;
    return CLV_OK;
}

/* new: the weight's n new shards. */
static clv_status plan_weight(planning *p, old_shards *o, const clv_weight_shard *new, int32_t n,
                              clv_error *err)
{
    CLV_TRY(group_copies(p, o, err));
    for (int32_t i = 0; i < o->n_old; i++)
        p->devices[o->old[i].device].before_bytes += o->places[i].length;
    for (int32_t i = 0; i < n; i++) {
        int64_t bytes = 0;
        (void)clv_dtype_bytes(p->f->weights.at[new[i].weight].dtype, clv_box_elems(&new[i].box),
                              &bytes);
        p->devices[p->device_of[new[i].device]].after_bytes += bytes;
        for (int32_t g = 0; g < o->n_groups; g++)
            CLV_TRY(add_move(p, o, g, &new[i], err));
    }
    return CLV_OK;
}

static int32_t count_shards(const clv_weight_layout *t, int32_t from, int32_t weight)
{
    int32_t to = from;
    while (to < t->n_shards && t->shards[to].weight == weight)
        to++;
    return to - from;
}

static clv_status plan_weights(planning *p, clv_error *err)
{
    const clv_weight_layout *old = &p->f->layout;
    int32_t widest = 0;
    for (int32_t w = 0, i = 0, k = 0; w < p->f->weights.n; w++) {
        int32_t n_old = count_shards(old, i, w), n_new = count_shards(p->t, k, w);
        if ((n_old == 0) != (n_new == 0))
            return clv_fail(err, CLV_EFORMAT,
                            n_old ? "%s: weight '%.*s' has shards, but none in the new layout"
                                  : "%s: weight '%.*s' has no shards, so it cannot be in the new "
                                    "layout",
                            p->f->path, CLV_STR_ARG(p->f->weights.at[w].name));
        if (n_old == 0)
            continue;
        old_shards o = { .old = old->shards + i, .places = p->f->places + i, .n_old = n_old };
        CLV_TRY(plan_weight(p, &o, p->t->shards + k, n_new, err));
        widest = n_new > widest ? n_new : widest;
        i += n_old;
        k += n_new;
    }
    /* Of writing, and the block and stage of reading. */
    p->plan.buffer_bytes =
        CLV_PART_THREADS *
        (int64_t)(clv_stream_memory(widest, CLV_PART_MEMORY / CLV_PART_THREADS) + CLV_STREAM_BLOCK);
    return CLV_OK;
}

clv_status clv_reshard_plan_make(const clv_weights_folder *f, const clv_weight_layout *layout,
                                 clv_arena *arena, clv_reshard_plan *ret, clv_error *err)
{
    clv_weight_layout sorted;
    planning p = { .f = f, .t = &sorted, .arena = arena };
    CLV_TRY(clv_weight_layout_check(layout, &f->weights, arena, err));
    CLV_TRY(clv_weight_layout_sort(layout, f->weights.n, arena, &sorted, err));
    CLV_TRY(merge_devices(&p, err));
    CLV_TRY(plan_weights(&p, err));
    for (int32_t i = 0; i < p.n_devices; i++)
        if (p.devices[i].before_bytes + p.devices[i].after_bytes > p.plan.peak_bytes)
            p.plan.peak_bytes = p.devices[i].before_bytes + p.devices[i].after_bytes;
    p.plan.transfers = p.at;
    p.plan.n_transfers = p.n;
    p.plan.devices = p.devices;
    p.plan.n_devices = p.n_devices;
    *ret = p.plan;
    return CLV_OK;
}

static void put_transfers(clv_json_out *out, const clv_weights_folder *f,
                          const clv_weight_layout *t, const clv_reshard_plan *plan)
{
    clv_json_open_array(out, "transfers");
    for (int32_t i = 0; i < plan->n_transfers; i++) {
        const clv_weight_move *x = &plan->transfers[i];
        clv_json_open_object(out, NULL);
        clv_json_put_str(out, "weight", f->weights.at[x->weight].name);
        clv_json_put_string(out, "from", f->layout.devices[x->from]);
        clv_json_put_string(out, "file", f->files[x->file].name);
        clv_json_put_string(out, "to", t->devices[x->to]);
        clv_json_put_int(out, "bytes", x->bytes);
        clv_json_put_bool(out, "stays", x->stays);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_devices(clv_json_out *out, const clv_reshard_plan *plan)
{
    clv_json_open_array(out, "devices");
    for (int32_t i = 0; i < plan->n_devices; i++) {
        const clv_device_load *d = &plan->devices[i];
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", d->name);
        clv_json_put_int(out, "bytes_before", d->before_bytes);
        clv_json_put_int(out, "bytes_after", d->after_bytes);
        clv_json_put_int(out, "bytes_sent", d->sent_bytes);
        clv_json_put_int(out, "bytes_received", d->received_bytes);
        clv_json_put_int(out, "peak_bytes", d->before_bytes + d->after_bytes);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

clv_status clv_reshard_plan_json(const clv_weights_folder *f, const clv_weight_layout *t,
                                 const clv_reshard_plan *plan, clv_arena *arena, const char **ret,
                                 clv_error *err)
{
    clv_json_out out;
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_int(&out, "moved_bytes", plan->moved_bytes);
    clv_json_put_int(&out, "kept_bytes", plan->kept_bytes);
    clv_json_put_int(&out, "peak_bytes", plan->peak_bytes);
    clv_json_put_int(&out, "buffer_bytes", plan->buffer_bytes);
    put_devices(&out, plan);
    put_transfers(&out, f, t, plan);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    return CLV_OK;
}
