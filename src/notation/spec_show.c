/* spec_show.c - a sharding spec in words. */
#include <inttypes.h>
#include <stdio.h>

#include "notation/sharding_split.h"

#define SPEC_TEXT     400 /* of one spec: a line or two of a report */
#define DEVICES_SHOWN 8   /* of a list, and of a group */

typedef struct {
    char at[SPEC_TEXT];
    size_t n;
} text;

#define ADD(t, ...) ((t)->n = clv_add_words((t)->at, SPEC_TEXT, (t)->n, __VA_ARGS__))

static void add_dim(text *t, const clv_sharded_dim *dim)
{
    ADD(t, "axis %" PRId64 " in ", dim->axis);
    for (int32_t i = 0; i < dim->n_simple; i++)
        ADD(t, "%s%" PRId64, i ? "*" : "", dim->simple[i].num_shards);
    if (dim->n_simple < 2)
        return;
    ADD(t, " of ");
    for (int32_t i = 0; i < dim->n_simple; i++) {
        const clv_simple_sharding *one = &dim->simple[i];
        if (one->dim_param)
            ADD(t, "%s%.40s", i ? "*" : "", one->dim_param);
        else if (one->dim >= 0)
            ADD(t, "%s%" PRId64, i ? "*" : "", one->dim);
        else
            ADD(t, "%srest", i ? "*" : "");
    }
}

/* "0-7", "0, 2" */
static void add_ids(text *t, const int64_t *id, int32_t n)
{
    int32_t shown = 0;

    for (int32_t i = 0, end = 0; i < n; i = end) {
        for (end = i + 1; end < n && id[end] == id[end - 1] + 1; end++)
            continue;
        if (shown++ == DEVICES_SHOWN) {
            ADD(t, ", ... (%" PRId32 ")", n);
            return;
        }
        ADD(t, "%s%" PRId64, i ? ", " : "", id[i]);
        if (end == i + 2)
            ADD(t, ", %" PRId64, id[end - 1]);
        else if (end > i + 2)
            ADD(t, "-%" PRId64, id[end - 1]);
    }
}

/* Plain ids, or groups in braces. A mixture is written one by one. */
static void add_devices(text *t, const clv_sharding_spec *spec)
{
    int32_t i = 0;

    if (spec->n_groups == 0) {
        add_ids(t, spec->device, spec->n_device);
        return;
    }
    for (; i < spec->n_device && i < DEVICES_SHOWN; i++) {
        const clv_device_group *group = NULL;
        for (int32_t g = 0; g < spec->n_groups && !group; g++)
            group = spec->groups[g].key == spec->device[i] ? &spec->groups[g] : NULL;
        ADD(t, i ? ", {" : "{");
        if (group)
            add_ids(t, group->devices, group->n_devices);
        else
            ADD(t, "%" PRId64, spec->device[i]);
        ADD(t, "}");
    }
    if (i < spec->n_device)
        ADD(t, ", ... (%" PRId32 ")", spec->n_device);
}

const char *clv_spec_show(const clv_sharding_spec *spec, clv_arena *arena)
{
    text t = { .n = 0 };
    int32_t n_split = 0;

    for (int32_t d = 0; d < spec->n_dims; d++) {
        bool split = false;
        for (int32_t i = 0; i < spec->dims[d].n_simple; i++)
            split |= spec->dims[d].simple[i].num_shards > 1;
        if (!split)
            continue;
        ADD(&t, n_split++ ? ", " : "");
        add_dim(&t, &spec->dims[d]);
    }
    ADD(&t, n_split ? " on " : "whole on ");
    add_devices(&t, spec);
    return clv_arena_printf(arena, "%s", t.at);
}
