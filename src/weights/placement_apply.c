#include <inttypes.h>

#include "notation/placement_name.h"
#include "weights/placement_file.h"

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
    clv_error *err;
} applier;

static clv_status nomem(applier *a) { return clv_fail_nomem(a->err, "target"); }

static clv_status note(applier *a, const char *text)
{
    clv_placement_notes *notes = a->notes;

    if (!text || !CLV_PUSH_ROOM(a->arena, notes->at, notes->n, notes->cap))
        return nomem(a);
    notes->at[notes->n++] = text;
    return CLV_OK;
}

/* -- shards -- */

static clv_status add_shard(applier *a, int32_t weight, int32_t device, const int64_t *offset,
                            const int64_t *size)
{
    const clv_weight *w = &a->weights->at[weight];

    for (int32_t i = 0; i < w->rank; i++)
        if (size[i] == 0)
            return CLV_OK; /* nothing to keep */
    if (a->n_shards == SHARDS_MAX)
        return clv_fail(a->err, CLV_ELIMIT, "the placement spec makes over %d shards", SHARDS_MAX);
    if (!CLV_PUSH_ROOM(a->arena, a->shards, a->n_shards, a->cap_shards))
        return nomem(a);
    a->shards[a->n_shards++] = (clv_weight_shard){
        .weight = weight,
        .device = device,
        .box = { .rank = w->rank, .view = w->dims, .offset = offset, .size = size },
    };
    return CLV_OK;
}

/* The whole weight on each of the devices. */
static clv_status add_copies(applier *a, int32_t weight, const clv_placement_devices *devices)
{
    const clv_weight *w = &a->weights->at[weight];
    int64_t *zeros = CLV_NEW_ARRAY(a->arena, int64_t, w->rank);

    if (!zeros)
        return nomem(a);
    for (int32_t i = 0; i < devices->n; i++)
        CLV_TRY(add_shard(a, weight, clv_placement_devices_find(&a->file->devices, &devices->at[i]),
                          zeros, w->dims));
    return CLV_OK;
}

/* "weight 'net1.bias'". */
static const char *label(applier *a, int32_t weight)
{
    return clv_arena_printf(a->arena, "weight '%.*s'", CLV_STR_ARG(a->weights->at[weight].name));
}

static clv_status name_dims(applier *a, clv_str name, clv_placement_tensor *tensor)
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
        a->err, CLV_EFORMAT, "%.200s: '%.*s' names %" PRId32 " dimension%s, but it has %" PRId32,
        tensor->name, CLV_STR_ARG(names->name), names->n, names->n == 1 ? "" : "s", tensor->rank);
}

/* The spec that was to be, but cannot: its words are in inner. */
static clv_status skip(applier *a, int32_t weight, const clv_placement_spec *spec,
                       const clv_error *inner)
{
    clv_placement_devices devices;

    CLV_TRY(clv_placement_devices_of(spec, a->arena, &devices, a->err));
    CLV_TRY(note(a, clv_arena_printf(a->arena, "%s: it is whole on %" PRId32 " device%s",
                                     inner->message, devices.n, devices.n == 1 ? "" : "s")));
    return add_copies(a, weight, &devices);
}

static clv_status cut_weight(applier *a, int32_t weight, clv_str name,
                             const clv_placement_spec *spec)
{
    const clv_weight *w = &a->weights->at[weight];
    clv_placement_tensor tensor = { label(a, weight), w->rank, w->dims, NULL };
    clv_placement_parts parts = { 0 };
    clv_error inner = { .message = "" }, *err = a->err;
    clv_status status = CLV_OK;

    if (!tensor.name)
        return nomem(a);
    a->err = &inner;
    status = name_dims(a, name, &tensor);
    a->err = err;
    if (status == CLV_OK)
        status = clv_placement_parts_of(spec, &tensor, &a->file->devices, a->arena, &parts, &inner);
    if (status == CLV_EFORMAT && a->file->skip)
        return skip(a, weight, spec, &inner);
    if (status != CLV_OK)
        return clv_fail(a->err, status, "%s", inner.message);
    for (int32_t i = 0; i < parts.n; i++)
        CLV_TRY(add_shard(a, weight, parts.at[i].device, parts.at[i].offset, parts.at[i].size));
    return CLV_OK;
}

/* All names that fit are marked, the longest counts. */
static clv_status place_weight(applier *a, int32_t weight)
{
    clv_str name, around;
    int32_t rule = -1;

    CLV_TRY(clv_placement_name_of(a->weights->at[weight].name, a->arena, &name, a->err));
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
        return cut_weight(a, weight, name, a->file->rules[rule].spec);
    }
    if (a->n_others++ == 0)
        a->first_other = weight;
    return a->file->copy_others ? add_copies(a, weight, &a->file->devices) : CLV_OK;
}

/* -- notes -- */

static clv_status note_rules(applier *a)
{
    for (int32_t i = 0; i < a->file->n_rules; i++) {
        clv_str name = a->file->rules[i].name;
        if (a->counts[i])
            continue;
        CLV_TRY(note(a, clv_arena_printf(a->arena,
                                         a->fits[i] ? "'%.*s' of the placement spec never counts: "
                                                      "all its weights have longer names in it"
                                                    : "'%.*s' of the placement spec is no weight "
                                                      "of the model and has none below it",
                                         CLV_STR_ARG(name))));
    }
    for (int32_t i = 0; i < a->file->n_names; i++)
        if (!a->named[i])
            CLV_TRY(note(a, clv_arena_printf(a->arena,
                                             "dimensions are named for '%.*s', but no weight with "
                                             "a spec has or ends in that name",
                                             CLV_STR_ARG(a->file->names[i].name))));
    return CLV_OK;
}

static clv_status note_others(applier *a)
{
    const clv_placement_file *f = a->file;

    if (a->n_others == 0)
        return CLV_OK;
    return note(a, clv_arena_printf(a->arena, "%" PRId32 " weight%s without a spec, %s: '%.*s'%s",
                                    a->n_others, a->n_others == 1 ? " is" : "s are",
                                    f->copy_others ? "copied to every device" : "not sharded",
                                    CLV_STR_ARG(a->weights->at[a->first_other].name),
                                    a->n_others == 1 ? "" : " is the first"));
}

/* -- all -- */

static clv_status name_devices(applier *a, clv_weight_layout *ret)
{
    int32_t n = a->file->devices.n;
    const char **names = CLV_NEW_ARRAY(a->arena, const char *, n);

    if (!names)
        return nomem(a);
    for (int32_t i = 0; i < n; i++) {
        names[i] = clv_remote_device_print(&a->file->devices.at[i], a->arena);
        if (!names[i])
            return nomem(a);
    }
    ret->devices = names;
    ret->n_devices = n;
    return CLV_OK;
}

clv_status clv_placement_file_apply(const clv_placement_file *file, const clv_weight_list *weights,
                                    clv_arena *arena, clv_weight_layout *ret,
                                    clv_placement_notes *notes, clv_error *err)
{
    applier a = { .file = file, .weights = weights, .arena = arena, .notes = notes, .err = err };
    clv_weight_layout layout = { 0 };

    a.fits = CLV_NEW_ARRAY(arena, bool, file->n_rules);
    a.counts = CLV_NEW_ARRAY(arena, bool, file->n_rules);
    a.named = CLV_NEW_ARRAY(arena, bool, file->n_names);
    if (!a.fits || !a.counts || !a.named)
        return nomem(&a);
    CLV_TRY(name_devices(&a, &layout));
    for (int32_t i = 0; i < weights->n; i++)
        CLV_TRY(place_weight(&a, i));
    CLV_TRY(note_rules(&a));
    CLV_TRY(note_others(&a));
    layout.shards = a.shards;
    layout.n_shards = a.n_shards;
    *ret = layout;
    return CLV_OK;
}
