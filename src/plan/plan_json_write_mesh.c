#include "plan/plan_json_write_mesh.h"

#include <string.h>

#include "plan/plan_json.h"
#include "plan/plan_mesh.h"

/* [[0, 1], [2, 3]] */
void clv_plan_put_copies(clv_json_out *out, const clv_plan *plan)
{
    if (clv_plan_copies(plan) == 1)
        return;
    clv_json_open_array(out, "copies");
    for (int32_t c = 0; c < plan->n_copies; c++)
        clv_json_put_ints(out, NULL, plan->copy_device + c * plan->copy_devices,
                          plan->copy_devices);
    clv_json_close_array(out);
}

void clv_plan_put_copy_names(clv_json_out *out, const clv_plan *plan)
{
    int32_t n = plan->copy_devices;

    if (clv_plan_copies(plan) == 1)
        return;
    clv_json_open_array(out, "copies");
    for (int32_t c = 0; c < plan->n_copies; c++) {
        clv_json_open_array(out, NULL);
        for (int32_t i = 0; i < n; i++)
            clv_json_put_string(out, NULL, plan->devices[plan->copy_device[c * n + i]].name);
        clv_json_close_array(out);
    }
    clv_json_close_array(out);
}

void clv_plan_put_mesh(clv_json_out *out, const clv_plan *plan)
{
    if (!clv_plan_has_mesh(plan))
        return;
    clv_json_open_object(out, "mesh");
    clv_json_open_array(out, "axes");
    for (int32_t a = 0; a < plan->n_axes; a++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", plan->axes[a].name);
        clv_json_put_int(out, "size", plan->axes[a].size);
        if (plan->axes[a].shares)
            clv_plan_put_numbers(out, "shares", plan->axes[a].shares, plan->axes[a].size);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    clv_json_open_array(out, "devices");
    for (int32_t m = 0; m < plan->n_meshes; m++)
        clv_json_put_ints(out, NULL, plan->mesh_device + m * plan->mesh_devices,
                          plan->mesh_devices);
    clv_json_close_array(out);
    if (plan->overlap > 0)
        clv_json_put_number(out, "overlap", plan->overlap);
    clv_json_close_object(out);
}

static const char *split_at(const clv_plan *plan, int32_t i)
{
    return plan->split_of_op[i] ? plan->split_of_op[i] : "";
}

/* [[split, count], ...] over the nodes in file order, each run on one line. */
void clv_plan_put_splits(clv_json_out *out, const clv_plan *plan)
{
    bool pretty = out->pretty;

    if (!plan->split_of_op)
        return;
    clv_json_open_array(out, "split_runs");
    for (int32_t first = 0, i = 1; i <= plan->n_ops; i++) {
        if (i < plan->n_ops && strcmp(split_at(plan, i), split_at(plan, first)) == 0)
            continue;
        clv_json_open_array(out, NULL);
        out->pretty = false;
        clv_json_put_string(out, NULL, split_at(plan, first));
        clv_json_put_int(out, NULL, i - first);
        clv_json_close_array(out);
        out->pretty = pretty;
        first = i;
    }
    clv_json_close_array(out);
}

void clv_plan_put_collectives(clv_json_out *out, const clv_plan *plan)
{
    if (!clv_plan_has_mesh(plan) || !plan->collectives)
        return;
    clv_json_open_array(out, "collectives");
    for (int32_t i = 0; i < plan->n_collectives; i++) {
        const clv_plan_collective *c = &plan->collectives[i];
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "kind", c->kind);
        clv_json_put_string(out, "axes", c->axes);
        clv_json_put_int(out, "stage", c->stage);
        clv_json_put_string(out, "tensor", c->tensor ? c->tensor : "");
        if (c->reader)
            clv_json_put_string(out, "reader", c->reader);
        if (c->from)
            clv_json_put_string(out, "from", c->from);
        if (c->to)
            clv_json_put_string(out, "to", c->to);
        clv_plan_put_known_count(out, "bytes", c->bytes);
        clv_plan_put_known_count(out, "ns", c->ns);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_uneven(clv_json_out *out, const char *key, const clv_plan *plan)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < plan->n_uneven; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "tensor", plan->uneven[i].tensor);
        clv_json_put_int(out, "axis", plan->uneven[i].dim);
        clv_json_put_string(out, "sizes", plan->uneven[i].sizes);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_partial(clv_json_out *out, const char *key, const clv_plan *plan)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < plan->n_partial; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "tensor", plan->partial[i].tensor);
        clv_json_put_string(out, "layout", plan->partial[i].layout);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

void clv_plan_put_found(clv_json_out *out, const clv_plan *plan)
{
    if (plan->found) {
        clv_json_open_array(out, "found");
        for (int32_t i = 0; i < plan->n_found; i++) {
            clv_json_open_object(out, NULL);
            clv_json_put_string(out, "name", plan->found[i].name);
            if (*plan->found[i].axes)
                clv_json_put_string(out, "axes", plan->found[i].axes);
            clv_json_put_int(out, "count", plan->found[i].n);
            clv_json_put_string(out, "of", plan->found[i].of);
            clv_json_close_object(out);
        }
        clv_json_close_array(out);
    }
    if (plan->n_uneven > 0)
        put_uneven(out, "uneven_parts", plan);
    if (plan->n_partial > 0)
        put_partial(out, "partial_sums", plan);
}

/* -- metadata of a model -- */

/* The text without the newline at its end. */
static clv_status end_line(clv_json_out *out, const char **ret, clv_error *err)
{
    CLV_TRY(clv_json_end(out, err));
    if (out->n > 0 && out->text[out->n - 1] == '\n')
        out->text[out->n - 1] = '\0';
    *ret = out->text;
    return CLV_OK;
}

clv_status clv_plan_copies_json(const clv_plan *plan, clv_arena *arena, const char **ret,
                                clv_error *err)
{
    clv_json_out out;

    *ret = NULL;
    if (clv_plan_copies(plan) == 1)
        return CLV_OK;
    clv_json_begin(&out, arena, false);
    clv_json_open_object(&out, NULL);
    clv_plan_put_copies(&out, plan);
    clv_json_close_object(&out);
    return end_line(&out, ret, err);
}

clv_status clv_plan_mesh_json(const clv_plan *plan, clv_arena *arena, const char **ret,
                              clv_error *err)
{
    clv_json_out out;

    *ret = NULL;
    if (!clv_plan_has_mesh(plan))
        return CLV_OK;
    clv_json_begin(&out, arena, false);
    clv_json_open_object(&out, NULL);
    clv_plan_put_mesh(&out, plan);
    clv_json_close_object(&out);
    return end_line(&out, ret, err);
}

clv_status clv_plan_uneven_json(const clv_plan *plan, clv_arena *arena, const char **ret,
                                clv_error *err)
{
    clv_json_out out;

    *ret = NULL;
    if (plan->n_uneven == 0)
        return CLV_OK;
    clv_json_begin(&out, arena, false);
    put_uneven(&out, NULL, plan);
    return end_line(&out, ret, err);
}

clv_status clv_plan_partial_json(const clv_plan *plan, clv_arena *arena, const char **ret,
                                 clv_error *err)
{
    clv_json_out out;

    *ret = NULL;
    if (plan->n_partial == 0)
        return CLV_OK;
    clv_json_begin(&out, arena, false);
    put_partial(&out, NULL, plan);
    return end_line(&out, ret, err);
}
