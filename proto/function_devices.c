#include "proto/function_devices.h"

#include <stdlib.h>

#include "plan/plan_mesh.h"

/* What is known of a function goes from "not called" to a device to "calls disagree" and never
 * back, so it changes at most twice. Whenever it changes, the function waits on a stack to pass the
 * news on to the functions that it calls itself. The end is the same in whatever order they are
 * taken.
 */
#define NOT_CALLED (-2)

typedef struct {
    const clv_graph *graph;
    int32_t index;
} function_ref;

typedef struct {
    function_ref *refs; /* sorted by address, to find an index by its graph */
    int32_t n;
    int32_t *device;
    int32_t *stack, n_stack;
    bool *waits;
} spread;

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const function_ref *)a)->graph;
    uintptr_t y = (uintptr_t)((const function_ref *)b)->graph;
    return (x > y) - (x < y);
}

static void merge_device(spread *s, const clv_graph *function, int32_t device)
{
    function_ref key = { function, 0 };
    const function_ref *found = bsearch(&key, s->refs, (size_t)s->n, sizeof key, by_address);
    if (!found)
        return;
    int32_t k = found->index;
    int32_t now = s->device[k] == NOT_CALLED || s->device[k] == device ? device : CLV_NO_DEVICE;
    if (now == s->device[k])
        return;
    s->device[k] = now;
    if (!s->waits[k]) {
        s->waits[k] = true;
        s->stack[s->n_stack++] = k;
    }
}

/* devices NULL: all of the graph's operators run on `device`. Bodies are at most 64 deep. */
static void visit_graph(spread *s, const clv_graph *g, const int32_t *devices, int32_t device)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        int32_t d = devices ? devices[op->file_index] : device;
        if (op->function)
            merge_device(s, op->function, d);
        for (int32_t k = 0; k < op->n_attr; k++) {
            const clv_attr *a = &g->attrs[op->first_attr + k];
            if (a->kind != CLV_ATTR_GRAPH && a->kind != CLV_ATTR_GRAPHS)
                continue;
            for (int32_t b = 0; b < a->n; b++)
                visit_graph(s, a->graph[b], NULL, d);
        }
    }
}

/* Where calls of the main graph run. By position in the file. */
static clv_status devices_of_calls(const clv_plan *plan, clv_arena *arena, const int32_t **ret,
                                   clv_error *err)
{
    *ret = plan->device_of_op;
    if (clv_plan_has_mesh(plan) || plan->n_annotations == 0)
        return CLV_OK;
    int32_t *device = CLV_NEW_ARRAY(arena, int32_t, plan->n_ops);
    if (!device)
        return clv_fail_nomem(err, "the functions of a model");
    memcpy(device, plan->device_of_op, (size_t)plan->n_ops * sizeof *device);
    for (int32_t i = 0; i < plan->n_annotations; i++) /* by hand: wherever that says */
        device[plan->annotations[i].file_index] = CLV_NO_DEVICE;
    *ret = device;
    return CLV_OK;
}

clv_status clv_function_devices(const clv_model *model, const clv_plan *plan, clv_arena *arena,
                                int32_t **ret, clv_error *err)
{
    int32_t n = model->n_functions;
    const int32_t *devices;
    spread s = { .n = n };
    s.device = CLV_NEW_ARRAY(arena, int32_t, n);
    s.refs = CLV_NEW_ARRAY(arena, function_ref, n);
    s.stack = CLV_NEW_ARRAY(arena, int32_t, n);
    s.waits = CLV_NEW_ARRAY(arena, bool, n);
    if (!s.device || !s.refs || !s.stack || !s.waits)
        return clv_fail_nomem(err, "the functions of a model");
    for (int32_t i = 0; i < n; i++) {
        s.refs[i] = (function_ref){ model->functions[i], i };
        s.device[i] = NOT_CALLED;
    }
    if (n)
        qsort(s.refs, (size_t)n, sizeof *s.refs, by_address);
    CLV_TRY(devices_of_calls(plan, arena, &devices, err));
    visit_graph(&s, model->main, devices, CLV_NO_DEVICE);
    while (s.n_stack) {
        int32_t k = s.stack[--s.n_stack];
        s.waits[k] = false;
        visit_graph(&s, model->functions[k], NULL, s.device[k]);
    }
    for (int32_t i = 0; i < n; i++)
        if (s.device[i] == NOT_CALLED)
            s.device[i] = CLV_NO_DEVICE;
    *ret = s.device;
    return CLV_OK;
}
