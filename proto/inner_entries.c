#include "proto/inner_entries.h"

#include <stdlib.h>

#define WHAT "the annotations of a model"

typedef struct clv_outer_entry {
    clv_node_annotation note;
    int32_t file_index;
    int32_t next; /* of the same function and configuration; -1: none */
} clv_outer_entry;

/* -- devices -- */

typedef struct {
    int64_t *at; /* ascending */
    int32_t n, cap;
} device_list;

static int by_device(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static clv_status add_devices(device_list *list, const int64_t *device, int32_t n, clv_arena *arena,
                              clv_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        if (!CLV_PUSH_ROOM(arena, list->at, list->n, list->cap))
            return clv_fail_nomem(err, WHAT);
        list->at[list->n++] = device[i];
    }
    return CLV_OK;
}

static clv_status add_spec(device_list *list, const clv_sharding_spec *spec, clv_arena *arena,
                           clv_error *err)
{
    clv_group_index groups;
    clv_error why;
    clv_status status = clv_group_index_make(spec, arena, &groups, &why);
    if (status == CLV_ENOMEM)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; status == CLV_OK && k < spec->n_device; k++) { /* else it is malformed */
        const clv_device_group *group = clv_group_find(&groups, spec->device[k]);
        CLV_TRY(add_devices(list, group ? group->devices : &spec->device[k],
                            group ? group->n_devices : 1, arena, err));
    }
    return CLV_OK;
}

/* Those that the specs of an entry name. */
static clv_status devices_of(const clv_node_annotation *note, clv_arena *arena, device_list *ret,
                             clv_error *err)
{
    *ret = (device_list){ .n = 0 };
    for (int32_t i = 0; i < note->n_specs; i++)
        CLV_TRY(add_spec(ret, &note->specs[i], arena, err));
    if (ret->n > 0)
        qsort(ret->at, (size_t)ret->n, sizeof *ret->at, by_device);
    return CLV_OK;
}

/* The first device of a that is not in b; -1: there is none. */
static int64_t other_device(const device_list *a, const device_list *b)
{
    for (int32_t i = 0, k = 0; i < a->n; i++) {
        while (k < b->n && b->at[k] < a->at[i])
            k++;
        if (k == b->n || b->at[k] != a->at[i])
            return a->at[i];
    }
    return -1;
}

/* -- one against another -- */

static clv_status check_devices(const clv_node_annotation *inner, const clv_node_annotation *outer,
                                int32_t file_index, clv_arena *arena, clv_error *err)
{
    device_list here, there;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(devices_of(inner, arena, &here, err));
    CLV_TRY(devices_of(outer, arena, &there, err));
    int64_t device = there.n > 0 ? other_device(&here, &there) : -1;
    clv_arena_rewind(arena, mark);
    if (device < 0)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "its specs name device %lld, but it runs in node %d, whose specs do not",
                    (long long)device, (int)file_index);
}

clv_status clv_inner_entry_check(const clv_node_annotation *inner, const clv_node_annotation *outer,
                                 int32_t file_index, clv_arena *arena, clv_error *err)
{
    if (inner->has_stage && outer->has_stage && inner->stage != outer->stage)
        return clv_fail(err, CLV_EFORMAT,
                        "its pipeline_stage is %lld, but it runs in node %d, which has %lld",
                        (long long)inner->stage, (int)file_index, (long long)outer->stage);
    return inner->n_specs > 0 && outer->n_specs > 0
               ? check_devices(inner, outer, file_index, arena, err)
               : CLV_OK;
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
        CLV_TRY(clv_inner_entry_check(inner, &outer->at[at].note, outer->at[at].file_index,
                                      outer->arena, err));
    return CLV_OK;
}
