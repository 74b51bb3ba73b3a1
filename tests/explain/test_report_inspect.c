/* test_report_inspect.c - what a person and a program read of a model. */
#include "explain/report_inspect.h"

#include <criterion/criterion.h>

#include "explain/inspection.h"
#include "explain/report_inspect_json.h"
#include "explain/says.h"
#include "graph/ops.h"
#include "support/line_model.h"

/*   x [batch,4] -> r0 -> t0 -> s -> t1 -> r1 -> y       Relu, Sigmoid, Relu
 *
 * Costs and subgraphs are made by hand, so that this folder is tested alone.
 */
static clv_arena *arena;
static clv_op_cost op_costs[3] = { { .flops = 100 }, { .flops = 700 }, { .flops = 200 } };
static clv_costs costs;
static clv_op order[3] = { { 0 }, { 1 }, { 2 } }, unknown[1] = { { 1 } };
static clv_subgraph units[2];
static clv_subgraphs subgraphs;
static clv_inspection in;

static const char *const lines[] = { "in x batch 4", "r0=Relu x t0", "s=Sigmoid t0 t1",
                                     "r1=Relu t1 y", "out y",        NULL };

static clv_model *build(void)
{
    clv_model *model = line_model(arena, lines);
    model->producer = clv_str_of("tester");
    return model;
}

static void infer(const clv_binding *bindings, int32_t n)
{
    clv_inference *inference = NULL;
    clv_error err;
    cr_assert_eq(clv_infer(in.model, bindings, n, arena, &inference, &err), CLV_OK, "%s",
                 err.message);
    in.inference = inference;
}

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    in = (clv_inspection){
        .name = "m.onnx", .model = build(), .costs = &costs, .subgraphs = &subgraphs
    };
    infer(NULL, 0);
    costs = (clv_costs){ .graph = in.model->main,
                         .of = op_costs,
                         .parameters = 12345,
                         .total = { .flops = 1000, .matmul_flops = 250, .weight_bytes = 2048 },
                         .unknown = unknown,
                         .n_unknown = 1 };
    units[0] = (clv_subgraph){ .candidate = { 1 }, .n = 2, .bytes_cost = 10, .flops_cost = 800 };
    units[1] = (clv_subgraph){
        .candidate = CLV_NO_OP, .first = 2, .n = 1, .bytes_cost = 2038, .flops_cost = 200
    };
    subgraphs = (clv_subgraphs){
        .graph = in.model->main, .n = 2, .at = units, .order = order, .n_candidates = 1
    };
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(report_inspect, .init = set_up, .fini = tear_down);

static const char *report(bool json)
{
    const char *ret = NULL;
    clv_error err;
    clv_status s = json ? clv_report_inspect_json(&in, arena, &ret, &err)
                        : clv_report_inspect(&in, (clv_text_form){ 0 }, arena, &ret, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    return ret;
}

static void says(bool json, const char *words) { expect_words(report(json), words); }

Test(report_inspect, reports_the_head_of_the_model)
{
    says(false, "m.onnx: ONNX, IR version 8, written by tester\n");
    says(false, "operator sets: ai.onnx 17\n");
    says(false, "operators: 3\n");
    says(false, "parameters: 12345\n");
    says(false, "25.0 % of it on matrix units");
}

Test(report_inspect, reports_how_to_bind_a_symbol_that_is_open)
{
    clv_binding batch = { clv_str_of("batch"), 8 };
    says(false, "  batch  open: give it a size with --bind 'batch=N'\n");
    says(true, "\"bound\": false");
    infer(&batch, 1);
    says(false, "  batch  bound\n");
    says(true, "\"bound\": true");
}

/* Sigmoid 700 of 1000 FLOPs, Relu 100 + 200. */
Test(report_inspect, counts_operators_by_type_most_work_first)
{
    clv_type_count *at = NULL;
    int32_t n = 0;

    cr_assert_eq(clv_inspection_count_types(&in, arena, &at, &n, NULL), CLV_OK);
    cr_assert_eq(n, 2);
    cr_expect_str_eq(at[0].type, "Sigmoid");
    cr_expect_eq(at[0].count, 1);
    cr_expect_str_eq(at[1].type, "Relu");
    cr_expect_eq(at[1].count, 2);
    cr_expect_float_eq(at[1].flops, 300, 0);
    says(false, "70.0 %\n");
    says(false, "30.0 %\n");
}

Test(report_inspect, reports_what_is_not_known)
{
    says(false, "operators that are not known: 1\n  s\n");
    says(true, "\"unknown_operators\": [\n    \"s\"\n  ]");
}

Test(report_inspect, shows_the_subgraph_with_most_weights_first)
{
    const char *all = report(false);
    says(false, "places to cut: 1 candidates, 2 subgraphs after merging\n");
    const char *rest = strstr(all, "(left over)");
    cr_assert_not_null(rest, "%s", all);
    cr_expect(strstr(rest, "\ns  "), "%s", all);
    says(true, "\"candidate\": null");
    says(true, "\"bytes_cost\": 2038");
}

Test(report_inspect, writes_shapes_with_symbols_by_name)
{
    says(true, "\"shape\": [\n        \"batch\",\n        4\n      ]");
    says(true, "\"element_type\": \"FLOAT\"");
}

Test(report_inspect, survives_running_out_of_memory_anywhere)
{
    for (int json = 0; json < 2; json++) {
        clv_status s = CLV_ENOMEM;
        for (size_t limit = 1; s != CLV_OK; limit += 256) {
            clv_arena *small = clv_arena_new(NULL, limit);
            const char *ret = NULL;
            if (!small)
                continue;
            s = json ? clv_report_inspect_json(&in, small, &ret, NULL)
                     : clv_report_inspect(&in, (clv_text_form){ 0 }, small, &ret, NULL);
            cr_assert(s == CLV_OK || (s == CLV_ENOMEM && !ret));
            clv_arena_free(small);
        }
    }
}
