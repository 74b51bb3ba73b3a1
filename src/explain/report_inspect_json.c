#include "explain/report_inspect_json.h"

#include "plan/plan_json.h"

#define SIDE_SHOWN 400 /* characters of a side of a relation */

static void put_dim(clv_json_out *out, const clv_model *m, clv_dim dim)
{
    if (clv_dim_is_number(dim))
        clv_json_put_int(out, NULL, dim);
    else if (clv_dim_is_symbol(dim) && clv_dim_symbol_id(dim) < m->n_symbols)
        clv_json_put_str(out, NULL, m->symbols[clv_dim_symbol_id(dim)]);
    else
        clv_json_put_null(out, NULL);
}

/* Inputs or outputs. */
static void put_ends(clv_json_out *out, const char *key, const clv_inspection *in,
                     const clv_tensor *at, int32_t n)
{
    const clv_model *m = in->model;

    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++) {
        const clv_type *type = &in->inference->main->of[at[i].i];
        char shown[256];
        clv_json_open_object(out, NULL);
        clv_json_put_str(out, "name", clv_tensor_at(m->main, at[i])->name);
        clv_json_put_string(out, "type", clv_type_show(m, type, shown, sizeof shown));
        if (type->kind == CLV_TYPE_TENSOR && type->rank >= 0) {
            clv_json_put_string(out, "element_type", clv_dtype_name(type->dtype));
            clv_json_open_array(out, "shape");
            for (int32_t k = 0; k < type->rank; k++)
                put_dim(out, m, type->dims[k]);
            clv_json_close_array(out);
        }
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_head(clv_json_out *out, const clv_inspection *in)
{
    const clv_model *m = in->model;

    clv_json_put_int(out, "schema_version", 1);
    clv_json_put_string(out, "model", in->name);
    clv_json_put_int(out, "ir_version", m->ir_version);
    clv_json_put_str(out, "producer", m->producer);
    clv_json_open_array(out, "operator_sets");
    for (int32_t i = 0; i < m->main->n_opsets; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_str(out, "domain", m->main->opsets[i].domain);
        clv_json_put_int(out, "version", m->main->opsets[i].version);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    clv_json_put_int(out, "operators", m->main->n_ops);
    clv_json_put_int(out, "functions", m->n_functions);
}

static clv_status put_symbols(clv_json_out *out, const clv_inspection *in, clv_arena *arena,
                              clv_error *err)
{
    clv_symbol_state *states;
    CLV_TRY(clv_inspection_symbols(in, arena, &states, err));
    clv_json_open_array(out, "symbols");
    for (int32_t i = 0; i < in->model->n_symbols; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_str(out, "name", in->model->symbols[i]);
        clv_json_put_bool(out, "bound", !states[i].open);
        if (states[i].follows_from)
            clv_json_put_string(out, "follows_from", states[i].follows_from);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    return CLV_OK;
}

static void put_side(clv_json_out *out, const char *key, const clv_relations *relations,
                     clv_dim side)
{
    char text[SIDE_SHOWN];
    clv_add_dim_words(text, sizeof text, 0, &relations->sums, side, NULL);
    clv_json_put_string(out, key, text);
}

static void put_relations(clv_json_out *out, const clv_relations *relations)
{
    clv_json_open_array(out, "relations");
    for (int32_t i = 0; i < relations->n; i++) {
        const clv_relation *r = &relations->at[i];
        clv_json_open_object(out, NULL);
        put_side(out, "left", relations, r->left);
        put_side(out, "right", relations, r->right);
        if (r->past != CLV_DIM_UNKNOWN)
            put_side(out, "or_at_most", relations, r->past);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_known(clv_json_out *out, const char *key, int64_t count)
{
    if (count >= 0)
        clv_plan_put_count(out, key, count);
    else
        clv_json_put_null(out, key);
}

static void put_room(clv_json_out *out, const clv_inspection *in, const clv_state_growth *growths,
                     int32_t n)
{
    clv_state_room room = clv_inspection_room(in, growths, n);
    clv_json_open_object(out, "room");
    clv_json_put_string(out, "cluster", in->cluster->name);
    clv_json_put_int(out, "devices", in->cluster->n_devices);
    clv_plan_put_count(out, "capacity_bytes", room.capacity_bytes);
    put_known(out, "token_bytes", room.token_bytes);
    put_known(out, "tokens", room.tokens);
    clv_json_close_object(out);
}

static clv_status put_states(clv_json_out *out, const clv_inspection *in, clv_arena *arena,
                             clv_error *err)
{
    clv_state_growth *growths;
    int32_t n;

    CLV_TRY(clv_inspection_growths(in, arena, &growths, &n, err));
    clv_json_open_object(out, "states");
    clv_json_put_int(out, "count", in->states.n);
    clv_json_put_int(out, "begun", clv_inspection_n_begun(in));
    put_known(out, "bytes", clv_inspection_state_bytes(in));
    clv_json_open_array(out, "growing");
    for (int32_t k = 0; k < n; k++) {
        clv_json_open_object(out, NULL);
        if (growths[k].along.n)
            clv_json_put_str(out, "along", growths[k].along);
        else
            clv_json_put_null(out, "along");
        clv_json_put_int(out, "count", growths[k].n);
        put_known(out, "token_bytes", growths[k].token_bytes);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    clv_json_close_object(out);
    if (in->cluster)
        put_room(out, in, growths, n);
    return CLV_OK;
}

static clv_status put_types(clv_json_out *out, const clv_inspection *in, clv_arena *arena,
                            clv_error *err)
{
    clv_type_count *at = NULL;
    int32_t n = 0;

    CLV_TRY(clv_inspection_count_types(in, arena, &at, &n, err));
    clv_json_open_array(out, "operator_types");
    for (int32_t i = 0; i < n; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "type", at[i].type);
        clv_json_put_int(out, "count", at[i].count);
        clv_json_put_number(out, "flops", at[i].flops);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    return CLV_OK;
}

static void put_ops(clv_json_out *out, const char *key, const clv_graph *g, const clv_op *at,
                    int32_t n)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++)
        clv_json_put_str(out, NULL, clv_op_at(g, at[i])->label);
    clv_json_close_array(out);
}

static void put_sentences(clv_json_out *out, const char *key, const clv_str *at, int32_t n)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++)
        clv_json_put_str(out, NULL, at[i]);
    clv_json_close_array(out);
}

static void put_open(clv_json_out *out, const clv_inspection *in)
{
    const clv_inference *inf = in->inference;

    clv_json_open_array(out, "open_tensors");
    for (int32_t i = 0; i < inf->n_open; i++)
        clv_json_put_str(out, NULL, clv_tensor_at(in->model->main, inf->open[i])->name);
    clv_json_close_array(out);
    clv_json_put_int(out, "open_in_bodies", inf->n_open_in_bodies);
    put_sentences(out, "conflicts", inf->conflicts, inf->n_conflicts);
    put_sentences(out, "warnings", in->model->warnings, in->model->n_warnings);
}

static void put_subgraphs(clv_json_out *out, const clv_subgraphs *s)
{
    clv_json_put_int(out, "candidates", s->n_candidates);
    clv_json_open_array(out, "subgraphs");
    for (int32_t i = 0; i < s->n; i++) {
        const clv_subgraph *u = &s->at[i];
        clv_json_open_object(out, NULL);
        if (u->candidate.i >= 0)
            clv_json_put_str(out, "candidate", clv_op_at(s->graph, u->candidate)->label);
        else
            clv_json_put_null(out, "candidate");
        clv_json_put_int(out, "operators", u->n);
        clv_plan_put_count(out, "bytes_cost", u->bytes_cost);
        clv_plan_put_count(out, "flops_cost", u->flops_cost);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

clv_status clv_report_inspect_json(const clv_inspection *in, clv_arena *arena,
                                   const char **ret_text, clv_error *err)
{
    const clv_graph *g = in->model->main;
    const clv_costs *c = in->costs;
    clv_json_out out;

    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    put_head(&out, in);
    put_ends(&out, "inputs", in, g->inputs, g->n_inputs);
    put_ends(&out, "outputs", in, g->outputs, g->n_outputs);
    CLV_TRY(put_symbols(&out, in, arena, err));
    put_relations(&out, in->inference->relations);
    clv_plan_put_count(&out, "parameters", c->parameters);
    clv_plan_put_count(&out, "weight_bytes", c->total.weight_bytes);
    clv_plan_put_count(&out, "constant_bytes", c->constant_bytes);
    clv_plan_put_count(&out, "flops", c->total.flops);
    clv_plan_put_count(&out, "matrix_flops", c->total.matmul_flops);
    CLV_TRY(put_states(&out, in, arena, err));
    CLV_TRY(put_types(&out, in, arena, err));
    put_ops(&out, "unknown_operators", g, c->unknown, c->n_unknown);
    put_ops(&out, "unsized_operators", g, c->unsized, c->n_unsized);
    put_open(&out, in);
    put_subgraphs(&out, in->subgraphs);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret_text = out.text;
    return CLV_OK;
}
