#include "proto/inner_entries.h"

#include "cluster/cluster.h"

#define WHAT "the annotations of a model"

typedef struct clv_outer_entry {
    clv_node_annotation note;
    int32_t file_index;
    int32_t next; /* of the same function and configuration; -1: none */
} clv_outer_entry;

/* -- devices -- */

#define WORDS (CLV_DEVICES_MAX / 64)

typedef struct {
    uint64_t bit[WORDS];
    bool any;
} device_set;

static void add_devices(device_set *set, const int64_t *device, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (device[i] >= 0 && device[i] < CLV_DEVICES_MAX) {
            set->bit[device[i] / 64] |= UINT64_C(1) << device[i] % 64;
            set->any = true;
        }
}

/* Those that the specs of an entry name. A spec that is malformed is for others to tell. */
static clv_status devices_of(const clv_node_annotation *note, clv_arena *arena, device_set *ret,
                             clv_error *err)
{
    *ret = (device_set){ .any = false };
    for (int32_t i = 0; i < note->n_specs; i++) {
        const clv_sharding_spec *spec = &note->specs[i];
        clv_group_index groups;
        clv_error why;
        clv_mark mark = clv_arena_mark(arena);
        clv_status status = clv_group_index_make(spec, arena, &groups, &why);
        if (status == CLV_ENOMEM)
            return clv_fail_nomem(err, WHAT);
        for (int32_t k = 0; status == CLV_OK && k < spec->n_device; k++) {
            const clv_device_group *group = clv_group_find(&groups, spec->device[k]);
            if (group)
                add_devices(ret, group->devices, group->n_devices);
            else
                add_devices(ret, &spec->device[k], 1);
        }
        clv_arena_rewind(arena, mark);
    }
    return CLV_OK;
}

/* The first device of a that is not in b; -1: there is none. */
static int32_t other_device(const device_set *a, const device_set *b)
{
    for (int32_t w = 0; w < WORDS; w++)
        if (a->bit[w] & ~b->bit[w])
            return w * 64 + __builtin_ctzll(a->bit[w] & ~b->bit[w]);
    return -1;
}

/* -- one against another -- */

static clv_status check(const clv_node_annotation *inner, const clv_node_annotation *outer,
                        int32_t file_index, clv_arena *arena, clv_error *err)
{
    device_set here, there;
    if (inner->has_stage && outer->has_stage && inner->stage != outer->stage)
        return clv_fail(err, CLV_EFORMAT,
                        "its pipeline_stage is %lld, but it runs in node %d, which has %lld",
                        (long long)inner->stage, (int)file_index, (long long)outer->stage);
    if (inner->n_specs == 0 || outer->n_specs == 0)
        return CLV_OK;
    CLV_TRY(devices_of(inner, arena, &here, err));
    CLV_TRY(devices_of(outer, arena, &there, err));
    int32_t device = there.any ? other_device(&here, &there) : -1;
    if (device < 0)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "its specs name device %d, but it runs in node %d, whose specs do not",
                    (int)device, (int)file_index);
}

clv_status clv_inner_entry_check_body(const clv_annotated_node *entries, int32_t first, int32_t end,
                                      const clv_node_annotation *inner, clv_arena *arena,
                                      clv_error *err)
{
    for (int32_t i = first; i < end; i++)
        if (strcmp(entries[i].note.configuration, inner->configuration) == 0)
            CLV_TRY(check(inner, &entries[i].note, entries[i].file_index, arena, err));
    return CLV_OK;
}

/* -- calls -- */

clv_status clv_outer_entries_init(clv_outer_entries *outer, clv_arena *arena, clv_error *err)
{
    *outer = (clv_outer_entries){ .arena = arena };
    CLV_TRY(clv_map_init(&outer->functions, arena, 0, err));
    CLV_TRY(clv_map_init(&outer->first, arena, 0, err));
    return clv_map_init(&outer->distinct, arena, 0, err);
}

static const char *name_of(const clv_outer_entries *outer, const clv_function_name *f)
{
    return clv_arena_printf(outer->arena, "%.*s\n%.*s\n%.*s", CLV_STR_ARG(f->domain),
                            CLV_STR_ARG(f->name), CLV_STR_ARG(f->overload));
}

clv_status clv_outer_entries_add(clv_outer_entries *outer, const clv_function_name *callee,
                                 int32_t configuration, const clv_node_annotation *note,
                                 int32_t file_index, clv_error *err)
{
    const char *name = name_of(outer, callee);
    int32_t function, id;
    if (!name || !CLV_PUSH_ROOM(outer->arena, outer->at, outer->n, outer->cap))
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_map_put(&outer->functions, clv_str_of(name), outer->n, &function, err));
    const int64_t distinct[] = { function, configuration, note->has_stage,
                                 note->has_stage ? note->stage : 0, note->n_specs > 0 };
    CLV_TRY(clv_map_put_key(&outer->distinct, distinct, sizeof distinct, outer->n, &id, err));
    if (id != outer->n)
        return CLV_OK;
    CLV_TRY(clv_map_put_key(&outer->first, distinct, 2 * sizeof *distinct, outer->n, &id, err));
    outer->at[outer->n] = (clv_outer_entry){ *note, file_index, -1 };
    if (id != outer->n) { /* behind the first */
        outer->at[outer->n].next = outer->at[id].next;
        outer->at[id].next = outer->n;
    }
    outer->n++;
    return CLV_OK;
}

clv_status clv_inner_entry_check_calls(clv_outer_entries *outer, const clv_function_name *of,
                                       int32_t configuration, const clv_node_annotation *inner,
                                       clv_error *err)
{
    const char *name = name_of(outer, of);
    if (!name)
        return clv_fail_nomem(err, WHAT);
    int32_t function = clv_map_get(&outer->functions, clv_str_of(name));
    const int64_t key[] = { function, configuration };
    int32_t at = clv_map_get(&outer->first, (clv_str){ (const char *)key, (int32_t)sizeof key });
    for (; at >= 0; at = outer->at[at].next)
        CLV_TRY(check(inner, &outer->at[at].note, outer->at[at].file_index, outer->arena, err));
    return CLV_OK;
}
