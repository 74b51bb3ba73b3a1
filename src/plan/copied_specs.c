#include "plan/copied_specs.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "plan/plan_copies.h"

#define WHAT "specs of a plan with copies"

/* -- one to all -- */

typedef struct {
    const clv_plan *plan;
    int32_t *place; /* clv_plan_places() */
    clv_arena *arena;
    clv_map lists;           /* of devices, by where they are */
    clv_sharding_spec *made; /* by list: as it is for all copies */
    int32_t n_made, cap_made;
} copier;

/* The devices at the places of some, in each copy. */
static clv_status copy_group(const copier *c, const int64_t *device, int32_t n,
                             clv_device_group *ret, clv_error *err)
{
    const clv_plan *plan = c->plan;
    int64_t *all = CLV_NEW_ARRAY(c->arena, int64_t, (size_t)n * (size_t)plan->n_copies);
    if (!all)
        return clv_fail_nomem(err, WHAT);
    ret->devices = all;
    for (int32_t k = 0; k < plan->n_copies; k++)
        for (int32_t i = 0; i < n; i++) {
            int64_t d = device[i];
            int32_t place = d >= 0 && d < plan->n_devices ? c->place[d] : -1;
            if (place >= 0)
                all[ret->n_devices++] = plan->copy_device[k * plan->copy_devices + place];
            else if (k == 0)
                all[ret->n_devices++] = d;
        }
    return CLV_OK;
}

/* Entry k becomes group -1-k. */
static clv_status copy_list(const copier *c, const clv_sharding_spec *of, clv_sharding_spec *ret,
                            clv_error *err)
{
    clv_group_index index;
    clv_device_group *groups = CLV_NEW_ARRAY(c->arena, clv_device_group, of->n_device);
    int64_t *keys = CLV_NEW_ARRAY(c->arena, int64_t, of->n_device);
    if (!groups || !keys)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_group_index_make(of, c->arena, &index, err));
    for (int32_t k = 0; k < of->n_device; k++) {
        const clv_device_group *group = clv_group_find(&index, of->device[k]);
        keys[k] = groups[k].key = -1 - k;
        CLV_TRY(copy_group(c, group ? group->devices : &of->device[k], group ? group->n_devices : 1,
                           &groups[k], err));
    }
    ret->device = keys;
    ret->n_device = of->n_device;
    ret->groups = groups;
    ret->n_groups = of->n_device;
    return CLV_OK;
}

static clv_status copy_spec(copier *c, clv_sharding_spec *io, clv_error *err)
{
    const void *key[3] = { io->device, io->groups, (const void *)(intptr_t)io->n_device };
    int32_t id;
    CLV_TRY(clv_map_put_key(&c->lists, key, sizeof key, c->n_made, &id, err));
    if (id == c->n_made) {
        if (!CLV_PUSH_ROOM(c->arena, c->made, c->n_made, c->cap_made))
            return clv_fail_nomem(err, WHAT);
        c->made[c->n_made] = (clv_sharding_spec){ .n_device = 0 };
        CLV_TRY(copy_list(c, io, &c->made[c->n_made++], err));
    }
    io->device = c->made[id].device;
    io->groups = c->made[id].groups;
    io->n_groups = c->made[id].n_groups;
    return CLV_OK;
}

static clv_status copy_note(copier *c, clv_node_annotation *io, clv_error *err)
{
    clv_sharding_spec *specs = CLV_NEW_ARRAY(c->arena, clv_sharding_spec, io->n_specs);
    if (!specs)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < io->n_specs; i++) {
        specs[i] = io->specs[i];
        CLV_TRY(copy_spec(c, &specs[i], err));
    }
    io->specs = specs;
    return CLV_OK;
}

clv_status clv_plan_copied_annotations(const clv_plan *plan, clv_arena *arena,
                                       const clv_plan_annotation **ret, clv_error *err)
{
    copier c = { .plan = plan, .arena = arena };
    *ret = plan->annotations;
    if (clv_plan_copies(plan) == 1)
        return CLV_OK;
    clv_plan_annotation *all = CLV_NEW_ARRAY(arena, clv_plan_annotation, plan->n_annotations);
    if (!all)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_plan_places(plan, arena, &c.place, err));
    CLV_TRY(clv_map_init(&c.lists, arena, 16, err));
    for (int32_t i = 0; i < plan->n_annotations; i++) {
        all[i] = plan->annotations[i];
        CLV_TRY(copy_note(&c, &all[i].note, err));
    }
    *ret = all;
    return CLV_OK;
}

/* -- all to one -- */

static bool has_device(const int64_t *device, int32_t n, int64_t d)
{
    int32_t i = 0;
    while (i < n && device[i] != d)
        i++;
    return i < n;
}

/* Each device of an entry has all others at its place beside it. */
static clv_status check_closed(const clv_plan *plan, const int32_t *originals,
                               const clv_device_group *of, const char *tensor, clv_error *err)
{
    for (int32_t i = 0; i < of->n_devices; i++) {
        int64_t d = of->devices[i];
        if (d < 0 || d >= plan->n_devices)
            return clv_fail(err, CLV_EFORMAT,
                            "'%.80s' is on device %" PRId64 ", there are %" PRId32, tensor, d,
                            plan->n_devices);
        for (int32_t k = 0; k < plan->n_copies * plan->copy_devices; k++) {
            int32_t other = plan->copy_device[k];
            if (originals[other] == originals[d] && !has_device(of->devices, of->n_devices, other))
                return clv_fail(err, CLV_EFORMAT,
                                "'%.80s' is on device %" PRId64 ", but not on %" PRId32
                                ", which is at the same place of another copy",
                                tensor, d, other);
        }
    }
    return CLV_OK;
}

clv_status clv_plan_spec_of_one(const clv_plan *plan, const int32_t *originals, clv_arena *arena,
                                clv_sharding_spec *io, clv_error *err)
{
    clv_group_index index;
    clv_device_group *groups = CLV_NEW_ARRAY(arena, clv_device_group, io->n_device);
    int64_t *device = CLV_NEW_ARRAY(arena, int64_t, io->n_device);
    int32_t n_groups = 0;
    if (!groups || !device)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_group_index_make(io, arena, &index, err));
    for (int32_t k = 0; k < io->n_device; k++) {
        const clv_device_group *named = clv_group_find(&index, io->device[k]);
        const clv_device_group own = { 0, &io->device[k], 1 }, *of = named ? named : &own;
        int64_t *first = CLV_NEW_ARRAY(arena, int64_t, of->n_devices);
        int32_t n = 0;
        if (!first)
            return clv_fail_nomem(err, WHAT);
        CLV_TRY(check_closed(plan, originals, of, CLV_SPEC_NAME(io), err));
        for (int32_t i = 0; i < of->n_devices; i++)
            if (originals[of->devices[i]] == of->devices[i])
                first[n++] = of->devices[i];
        device[k] = n == 1 ? first[0] : -1 - k;
        if (n != 1)
            groups[n_groups++] = (clv_device_group){ -1 - k, first, n };
    }
    io->device = device;
    io->groups = groups;
    io->n_groups = n_groups;
    return CLV_OK;
}
