#include "notation/placement_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "sharding/cut.h"

typedef struct {
    const clv_placement_tensor *tensor;
    const clv_placement_devices *devices;
    clv_arena *arena;
    clv_placement_parts *parts;
    int32_t cap;
} cutter;

/* The part of the tensor that is being cut. */
typedef struct {
    int64_t offset[CLV_RANK_MAX], size[CLV_RANK_MAX];
} box;

/* -- devices -- */

typedef struct {
    const clv_remote_device *device;
    int32_t number;
} numbered;

static int cmp_numbered(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    int d = clv_remote_device_cmp(x->device, y->device);

    return d ? d : (x->number > y->number) - (x->number < y->number);
}

clv_status clv_placement_devices_list(const clv_remote_device *at, int32_t n, clv_arena *arena,
                                      clv_placement_devices *ret, clv_error *err)
{
    numbered *order = CLV_NEW_ARRAY(arena, numbered, n);
    int32_t *sorted = CLV_NEW_ARRAY(arena, int32_t, n);

    if (!order || !sorted)
        return clv_fail_nomem(err, "devices");
    for (int32_t i = 0; i < n; i++)
        order[i] = (numbered){ &at[i], i };
    qsort(order, (size_t)n, sizeof *order, cmp_numbered);
    for (int32_t i = 0; i < n; i++) {
        if (i > 0 && clv_remote_device_cmp(order[i - 1].device, order[i].device) == 0) {
            const char *name = clv_remote_device_print(order[i].device, arena);
            return clv_fail(err, CLV_EFORMAT, "device '%.100s' is listed twice", name ? name : "");
        }
        sorted[i] = order[i].number;
    }
    *ret = (clv_placement_devices){ at, sorted, n };
    return CLV_OK;
}

static void list_devices(const clv_placement_spec *spec, clv_remote_device *to, int32_t *n)
{
    if (spec->kind == CLV_PLACEMENT_SPEC_DEVICE)
        to[(*n)++] = spec->device;
    for (int32_t i = 0; i < spec->n; i++)
        list_devices(spec->kind == CLV_PLACEMENT_SPEC_COMPOSITE ? spec->entries[i].spec
                                                                : spec->at[i],
                     to, n);
}

static int cmp_device(const void *a, const void *b) { return clv_remote_device_cmp(a, b); }

clv_status clv_placement_devices_of(const clv_placement_spec *spec, clv_arena *arena,
                                    clv_placement_devices *ret, clv_error *err)
{
    int32_t n = 0, kept = 0;
    clv_remote_device *at = CLV_NEW_ARRAY(arena, clv_remote_device, spec->devices);

    if (!at)
        return clv_fail_nomem(err, "devices");
    list_devices(spec, at, &n);
    qsort(at, (size_t)n, sizeof *at, cmp_device);
    for (int32_t i = 0; i < n; i++)
        if (kept == 0 || clv_remote_device_cmp(&at[kept - 1], &at[i]) != 0)
            at[kept++] = at[i];
    return clv_placement_devices_list(at, kept, arena, ret, err);
}

int32_t clv_placement_devices_find(const clv_placement_devices *devices,
                                   const clv_remote_device *device)
{
    int32_t low = 0, high = devices->n;

    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        int d = clv_remote_device_cmp(&devices->at[devices->sorted[mid]], device);
        if (d == 0)
            return devices->sorted[mid];
        if (d < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

/* -- parts -- */

static clv_status cut_spec(cutter *c, const clv_placement_spec *spec, const box *of,
                           clv_error *err);

static clv_status add_part(cutter *c, const clv_placement_spec *spec, const box *of, clv_error *err)
{
    clv_placement_parts *p = c->parts;
    size_t bytes = (size_t)p->rank * sizeof(int64_t);
    int64_t *place = CLV_NEW_ARRAY(c->arena, int64_t, 2 * p->rank);

    if (!place || !CLV_PUSH_ROOM(c->arena, p->at, p->n, c->cap))
        return clv_fail_nomem(err, "parts");
    memcpy(place, of->offset, bytes);
    memcpy(place + p->rank, of->size, bytes);
    p->at[p->n++] = (clv_placement_part){ clv_placement_devices_find(c->devices, &spec->device),
                                          place, place + p->rank };
    return CLV_OK;
}

/* The dimension as a number from the front. */
static clv_status find_dim(const cutter *c, clv_placement_dim dim, int32_t *ret, clv_error *err)
{
    const clv_placement_tensor *t = c->tensor;

    if (dim.name && !t->dim_names)
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s: its single_split is of dim '%.80s', but its dimensions have no "
                        "names",
                        t->name, dim.name);
    for (int32_t i = 0; dim.name && i < t->rank; i++)
        if (strcmp(dim.name, t->dim_names[i]) == 0) {
            *ret = i;
            return CLV_OK;
        }
    if (dim.name)
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s: its single_split is of dim '%.80s', but it has no dimension of "
                        "that name",
                        t->name, dim.name);
    if (dim.number < -t->rank || dim.number >= t->rank)
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s: its single_split is of dim %" PRId64 ", but it has %" PRId32
                        " dimension%s",
                        t->name, dim.number, t->rank, t->rank == 1 ? "" : "s");
    *ret = (int32_t)(dim.number < 0 ? dim.number + t->rank : dim.number);
    return CLV_OK;
}

static clv_status cut_split(cutter *c, const clv_placement_spec *spec, const box *of,
                            clv_error *err)
{
    box part = *of;
    int32_t dim = 0;
    int64_t from = 0;
    clv_error inner = { .message = "" };

    CLV_TRY(find_dim(c, spec->dim, &dim, err));
    if (spec->sizes && clv_cut_check_sizes(spec->sizes, spec->n, spec->n, of->size[dim],
                                           c->tensor->name, &inner) != CLV_OK)
        return clv_fail(err, CLV_EFORMAT, "%s", inner.message);
    c->parts->uneven |= !spec->sizes && of->size[dim] % spec->n != 0;
    for (int32_t i = 0; i < spec->n; i++) {
        if (spec->sizes)
            part.size[dim] = spec->sizes[i];
        else
            clv_cut(of->size[dim], spec->n, i, CLV_UNEVEN_CEIL, &from, &part.size[dim]);
        part.offset[dim] = of->offset[dim] + from;
        CLV_TRY(cut_spec(c, spec->at[i], &part, err));
        from += part.size[dim];
    }
    return CLV_OK;
}

static clv_status cut_mesh(cutter *c, const clv_placement_spec *spec, const box *of, clv_error *err)
{
    if (spec->rank != c->tensor->rank)
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s: its mesh has %" PRId32 " dimension%s, but it has %" PRId32,
                        c->tensor->name, spec->rank, spec->rank == 1 ? "" : "s", c->tensor->rank);
    for (int32_t d = 0; d < spec->rank; d++)
        c->parts->uneven |= of->size[d] % spec->shape[d] != 0;
    for (int32_t i = 0; i < spec->n; i++) {
        box part = *of;
        int32_t rest = i;
        for (int32_t d = spec->rank - 1; d >= 0; d--) {
            int64_t from = 0;
            clv_cut(of->size[d], spec->shape[d], rest % spec->shape[d], CLV_UNEVEN_CEIL, &from,
                    &part.size[d]);
            part.offset[d] += from;
            rest /= spec->shape[d];
        }
        CLV_TRY(cut_spec(c, spec->at[i], &part, err));
    }
    return CLV_OK;
}

/* As deep as specs are in each other: CLV_PLACEMENT_DEPTH_MAX. */
static clv_status cut_spec(cutter *c, const clv_placement_spec *spec, const box *of, clv_error *err)
{
    switch (spec->kind) {
    case CLV_PLACEMENT_SPEC_DEVICE:
        return add_part(c, spec, of, err);
    case CLV_PLACEMENT_SPEC_SPLIT:
        return cut_split(c, spec, of, err);
    case CLV_PLACEMENT_SPEC_MESH:
        return cut_mesh(c, spec, of, err);
    case CLV_PLACEMENT_SPEC_COMPOSITE:
        break;
    }
    return clv_fail(err, CLV_EFORMAT,
                    "%.200s: its spec is a composite, which is for tensors with names below its "
                    "own",
                    c->tensor->name);
}

clv_status clv_placement_parts_of(const clv_placement_spec *spec,
                                  const clv_placement_tensor *tensor,
                                  const clv_placement_devices *devices, clv_arena *arena,
                                  clv_placement_parts *ret, clv_error *err)
{
    clv_placement_parts parts = { .rank = tensor->rank };
    cutter c = { tensor, devices, arena, &parts, 0 };
    box whole = { 0 };

    if (tensor->rank > CLV_RANK_MAX)
        return clv_fail(err, CLV_ELIMIT, "%.200s: has over %d dimensions", tensor->name,
                        CLV_RANK_MAX);
    for (int32_t i = 0; i < tensor->rank; i++)
        whole.size[i] = tensor->dims[i];
    CLV_TRY(cut_spec(&c, spec, &whole, err));
    *ret = parts;
    return CLV_OK;
}
