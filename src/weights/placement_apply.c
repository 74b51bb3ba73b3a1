#include "weights/placement_apply.h"

#include <inttypes.h>

#include "notation/placement_name.h"

#define SHARDS_MAX (1 << 24) /* of all weights; each is some 150 bytes */

typedef struct {
    const clv_placement_file *file;
    const clv_weight_list *weights;
    clv_arena *arena;
    clv_placement_notes *notes;
    bool *fits, *counts; /* by rule: some weight is of that name; some weight goes by it */
    bool *named;         /* by clv_placement_dim_names: some weight is of that name */
    clv_weight_shard *shards;
    int32_t n_shards, cap_shards;
    int32_t n_others, first_other;
} applier;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "target"); }

static clv_status add_note(applier *a, const char *text, clv_error *err)
{
    clv_placement_notes *notes = a->notes;

    if (!text || !CLV_PUSH_ROOM(a->arena, notes->at, notes->n, notes->cap))
        return nomem(err);
    notes->at[notes->n++] = text;
    return CLV_OK;
}

/* -- shards -- */

static clv_status add_shard(applier *a, int32_t weight, int32_t device, const int64_t *offset,
                            const int64_t *size, clv_error *err)
{
    const clv_weight *w = &a->weights->at[weight];

    for (int32_t i = 0; i < w->rank; i++)
        if (size[i] == 0)
            return CLV_OK; /* nothing to keep */
    if (a->n_shards == SHARDS_MAX)
        return clv_fail(err, CLV_ELIMIT, "the placement spec makes over %d shards", SHARDS_MAX);
    if (!CLV_PUSH_ROOM(a->arena, a->shards, a->n_shards, a->cap_shards))
        return nomem(err);
    a->shards[a->n_shards++] = (clv_weight_shard){
        .weight = weight,
        .device = device,
        .box = { .rank = w->rank, .view = w->dims, .offset = offset, .size = size },
    };
    return CLV_OK;
}

/* The whole weight on each of the devices. */
static clv_status add_copies(applier *a, int32_t weight, const clv_placement_devices *devices,
                             clv_error *err)
{
    const clv_weight *w = &a->weights->at[weight];
    int64_t *zeros = CLV_NEW_ARRAY(a->arena, int64_t, w->rank);

    if (!zeros)
        return nomem(err);
    for (int32_t i = 0; i < devices->n; i++)
        CLV_TRY(add_shard(a, weight, clv_placement_devices_find(&a->file->devices, &devices->at[i]),
                          zeros, w->dims, err));
    return CLV_OK;
}

static clv_status name_dims(applier *a, clv_str name, clv_placement_tensor *tensor, clv_error *err)
{
    int32_t id = clv_placement_name_longest_suffix(&a->file->names_of, name);
    const clv_placement_dim_names *names = id < 0 ? NULL : &a->file->names[id];

    if (!names)
        return CLV_OK;
    a->named[id] = true;
    if (names->n == tensor->rank) {
        tensor->dim_names = names->dims;
        return CLV_OK;
    }
    return clv_fail(
        err, CLV_EFORMAT, "%.200s: '%.*s' names %" PRId32 " dimension%s, but it has %" PRId32,
        tensor->name, CLV_STR_ARG(names->name), names->n, names->n == 1 ? "" : "s", tensor->rank);
}

static clv_status cut_weight(applier *a, int32_t weight, clv_str name,
                             const clv_placement_spec *spec, clv_error *err)
{
    const clv_weight *w = &a->weights->at[weight];
    const char *label = clv_arena_printf(a->arena, "weight '%.*s'", CLV_STR_ARG(w->name));
    clv_placement_tensor tensor = { label, w->rank, w->dims, NULL };
    clv_placement_parts parts = { 0 };
    clv_error inner = { .message = "" };

    if (!label)
        return nomem(err);
    clv_status status = name_dims(a, name, &tensor, &inner);
    if (status == CLV_OK)
        status = clv_placement_parts_of(spec, &tensor, &a->file->devices, a->arena, &parts, &inner);
    if (status == CLV_EFORMAT && a->file->skip) { /* copies instead, and the words are a note */
        clv_placement_devices devices;
        CLV_TRY(clv_placement_devices_of(spec, a->arena, &devices, err));
        CLV_TRY(add_note(a,
                         clv_arena_printf(a->arena, "%s: it is whole on %" PRId32 " device%s",
                                          inner.message, devices.n, devices.n == 1 ? "" : "s"),
                         err));
        return add_copies(a, weight, &devices, err);
    }
    if (status != CLV_OK)
        return clv_fail(err, status, "%s", inner.message);
    for (int32_t i = 0; i < parts.n; i++)
        CLV_TRY(
            add_shard(a, weight, parts.at[i].device, parts.at[i].offset, parts.at[i].size, err));
    return CLV_OK;
}

/* All names that fit are marked, the longest counts. */
static clv_status place_weight(applier *a, int32_t weight, clv_error *err)
{
    clv_str name, around;
    int32_t rule = -1;

    CLV_TRY(clv_placement_name_of(a->weights->at[weight].name, a->arena, &name, err));
    around = name;
    do {
        int32_t id = clv_map_get(&a->file->rule_of, around);
        if (id >= 0)
            a->fits[id] = true;
        if (rule < 0)
            rule = id;
    } while (clv_placement_name_up(&around));
    if (rule >= 0) {
        a->counts[rule] = true;
        return cut_weight(a, weight, name, a->file->rules[rule].spec, err);
    }
    if (a->n_others++ == 0)
        a->first_other = weight;
    return a->file->copy_others ? add_copies(a, weight, &a->file->devices, err) : CLV_OK;
}

/* -- notes -- */

static clv_status note_rules(applier *a, clv_error *err)
{
    for (int32_t i = 0; i < a->file->n_rules; i++) {
        clv_str name = a->file->rules[i].name;
        if (a->counts[i])
            continue;
        CLV_TRY(add_note(a,
                         clv_arena_printf(a->arena,
                                          a->fits[i] ? "'%.*s' of the placement spec never counts: "
                                                       "all its weights have longer names in it"
                                                     : "'%.*s' of the placement spec is no weight "
                                                       "of the model and has none below it",
                                          CLV_STR_ARG(name)),
                         err));
    }
    for (int32_t i = 0; i < a->file->n_names; i++)
        if (!a->named[i])
            CLV_TRY(add_note(a,
                             clv_arena_printf(a->arena,
                                              "dimensions are named for '%.*s', but no weight with "
                                              "a spec has or ends in that name",
                                              CLV_STR_ARG(a->file->names[i].name)),
                             err));
    return CLV_OK;
}

static clv_status note_others(applier *a, clv_error *err)
{
    const clv_placement_file *f = a->file;

    if (a->n_others == 0)
        return CLV_OK;
    return add_note(a,
                    clv_arena_printf(a->arena, "%" PRId32 " weight%s without a spec, %s: '%.*s'%s",
                                     a->n_others, a->n_others == 1 ? " is" : "s are",
                                     f->copy_others ? "copied to every device" : "not sharded",
                                     CLV_STR_ARG(a->weights->at[a->first_other].name),
                                     a->n_others == 1 ? "" : " is the first"),
                    err);
}

/* -- all -- */

static clv_status name_devices(applier *a, clv_weight_layout *ret, clv_error *err)
{
    int32_t n = a->file->devices.n;
    const char **names = CLV_NEW_ARRAY(a->arena, const char *, n);

    if (!names)
        return nomem(err);
    for (int32_t i = 0; i < n; i++) {
        names[i] = clv_remote_device_print(&a->file->devices.at[i], a->arena);
        if (!names[i])
            return nomem(err);
    }
    ret->devices = names;
    ret->n_devices = n;
    return CLV_OK;
}

clv_status clv_placement_file_apply(const clv_placement_file *file, const clv_weight_list *weights,
                                    clv_arena *arena, clv_weight_layout *ret,
                                    clv_placement_notes *notes, clv_error *err)
{
    applier a = { .file = file, .weights = weights, .arena = arena, .notes = notes };
    clv_weight_layout layout = { 0 };

    a.fits = CLV_NEW_ARRAY(arena, bool, file->n_rules);
    a.counts = CLV_NEW_ARRAY(arena, bool, file->n_rules);
    a.named = CLV_NEW_ARRAY(arena, bool, file->n_names);
    if (!a.fits || !a.counts || !a.named)
        return nomem(err);
    CLV_TRY(name_devices(&a, &layout, err));
    for (int32_t i = 0; i < weights->n; i++)
        CLV_TRY(place_weight(&a, i, err));
    CLV_TRY(note_rules(&a, err));
    CLV_TRY(note_others(&a, err));
    layout.shards = a.shards;
    layout.n_shards = a.n_shards;
    *ret = layout;
    return CLV_OK;
}
