/* compare_optimized.c - the kernels that a runtime's description forms, beside those of ONNX
 * Runtime.
 *
 *   compare_optimized RUNTIME.json MODEL LEVEL OPTIMIZED [SYMBOL=VALUE ...]
 *
 * ONNX Runtime writes its optimised graph of MODEL as the file OPTIMIZED; LEVEL: basic, extended,
 * all. A tensor that it fused away is in that file no more, one that a kernel of ours keeps to
 * itself is `inside`. Compared are tensors that an operator writes while the model runs: no outputs
 * of the model, nothing that is a view, passed on as it is, or known before. A line is a tensor
 * where the two differ: "ours" or "theirs" (who keeps it inside), its writer's type, its name; then
 * "# tensors, inside in both, ours only, theirs only, operators of the optimised graph".
 * check_optimized.py reads them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/map.h"
#include "graph/infer.h"
#include "graph/ops.h"
#include "kernels/conditions.h"
#include "kernels/form.h"
#include "kernels/runtime_json.h"
#include "proto/onnx_read.h"
#include "run/ort.h"

#define BINDINGS_MAX 64

typedef struct {
    const char *runtime, *model, *level, *optimized;
    clv_binding bindings[BINDINGS_MAX];
    const char *symbols[BINDINGS_MAX];
    int n_bindings;
} request;

/* -- theirs -- */

static GraphOptimizationLevel level_of(const char *name)
{
    if (strcmp(name, "basic") == 0)
        return ORT_ENABLE_BASIC;
    return strcmp(name, "extended") == 0 ? ORT_ENABLE_EXTENDED : ORT_ENABLE_ALL;
}

static OrtStatus *set_options(const OrtApi *api, const request *r, OrtSessionOptions *to)
{
    OrtStatus *s = api->SetSessionGraphOptimizationLevel(to, level_of(r->level));
    if (!s)
        s = api->SetOptimizedModelFilePath(to, r->optimized);
    if (!s)
        s = api->SetIntraOpNumThreads(to, 1);
    for (int i = 0; i < r->n_bindings && !s; i++)
        s = api->AddFreeDimensionOverrideByName(to, r->symbols[i], r->bindings[i].value);
    return s;
}

static clv_status optimize(const request *r, clv_error *err)
{
    clr_ort ort = { 0 };
    OrtSessionOptions *options = NULL;
    OrtSession *session = NULL;
    CLV_TRY(clr_ort_open(&ort, err));
    clv_status status = clr_ort_check(&ort, ort.api->CreateSessionOptions(&options), r->model, err);
    if (status == CLV_OK)
        status = clr_ort_check(&ort, set_options(ort.api, r, options), r->model, err);
    if (status == CLV_OK)
        status = clr_ort_check(&ort, ort.api->CreateSession(ort.env, r->model, options, &session),
                               r->model, err);
    if (session)
        ort.api->ReleaseSession(session);
    if (options)
        ort.api->ReleaseSessionOptions(options);
    clr_ort_close(&ort);
    return status;
}

/* What is left of the model's tensors in the optimised graph, by tensor. */
typedef struct {
    const clv_graph *g;      /* the model */
    const clv_graph *theirs; /* optimised */
    clv_map tensors, ops;    /* of the model, by name */
    bool *left;              /* n_tensors of the model */
} survivors;

/* What is before an end of a name. */
static bool cut(clv_str name, const char *end, clv_str *ret)
{
    int32_t n = (int32_t)strlen(end);
    *ret = (clv_str){ name.at, name.n - n };
    return ret->n > 0 && memcmp(name.at + ret->n, end, (size_t)n) == 0;
}

/* The tensor by which an operator is called that the runtime has made for channels in blocks. */
static clv_tensor blocked_of(const survivors *s, const clv_op_info *theirs)
{
    clv_str name;
    if (cut(theirs->name, "/QuickGeluFusion/", &name)) {
        int32_t op = clv_map_get(&s->ops, name);
        return op < 0 ? CLV_NO_TENSOR : clv_op_output(s->g, &s->g->ops[op], 0);
    }
    if (cut(theirs->name, "_bn_nchwc", &name) || cut(theirs->name, "_nchwc", &name))
        return (clv_tensor){ clv_map_get(&s->tensors, name) };
    return CLV_NO_TENSOR;
}

static bool is_activation(const clv_op_info *op)
{
    static const char *const types[] = { "Clip",      "HardSigmoid", "HardSwish", "Gelu",
                                         "LeakyRelu", "Relu",        "Sigmoid",   "Tanh" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (clv_str_is(op->type, types[i]))
            return true;
    return false;
}

/* What the only reader of a tensor writes; none: there are more. */
static const clv_op_info *only_reader(const clv_graph *g, clv_tensor t)
{
    const clv_tensor_info *at = clv_tensor_at(g, t);
    return at->n_readers == 1 ? clv_op_at(g, g->readers_of[at->first_reader]) : NULL;
}

/* A convolution is called by its own result; a residual (its fourth operand) and an activation that
 * it took in since make it write theirs. */
static clv_tensor result_of(const survivors *s, const clv_op_info *theirs, clv_tensor t)
{
    const clv_op_info *next = only_reader(s->g, t);
    if (clv_str_is(theirs->type, "Conv") && theirs->n_in == 4 && next &&
        (clv_str_is(next->type, "Add") || clv_str_is(next->type, "Sum"))) {
        t = clv_op_output(s->g, next, 0);
        next = only_reader(s->g, t);
    }
    if (next && is_activation(next) && clv_op_attr(s->theirs, theirs, "activation"))
        t = clv_op_output(s->g, next, 0);
    return t;
}

/* Brings channels of the last dimension into blocks: what a Transpose did before a convolution. */
static void mark_reordered(survivors *s, const clv_op_info *theirs)
{
    clv_str name = clv_tensor_at(s->theirs, clv_op_input(s->theirs, theirs, 0))->name;
    int32_t t = clv_map_get(&s->tensors, name);
    const clv_tensor_info *at = t < 0 ? NULL : &s->g->tensors[t];
    for (int32_t r = 0; at && r < at->n_readers; r++) {
        const clv_op_info *reader = clv_op_at(s->g, s->g->readers_of[at->first_reader + r]);
        if (clv_str_is(reader->type, "Transpose"))
            s->left[clv_op_output(s->g, reader, 0).i] = true;
    }
}

/* Under its own name, or written by the operator that always did: in another layout then. */
static void mark_left(survivors *s)
{
    for (int32_t i = 0; i < s->theirs->n_ops; i++) {
        const clv_op_info *op = &s->theirs->ops[i];
        bool known = false;
        for (int32_t k = 0; k < op->n_out; k++) {
            clv_tensor out = clv_op_output(s->theirs, op, k);
            int32_t t =
                out.i < 0 ? -1 : clv_map_get(&s->tensors, clv_tensor_at(s->theirs, out)->name);
            known |= t >= 0;
            if (t >= 0)
                s->left[t] = true;
        }
        int32_t same = clv_map_get(&s->ops, op->name);
        if (known || same < 0 || !clv_str_eq(s->g->ops[same].type, op->type))
            continue;
        for (int32_t k = 0; k < s->g->ops[same].n_out; k++)
            if (clv_op_output(s->g, &s->g->ops[same], k).i >= 0)
                s->left[clv_op_output(s->g, &s->g->ops[same], k).i] = true;
    }
    for (int32_t i = 0; i < s->theirs->n_ops; i++) {
        clv_tensor t = blocked_of(s, &s->theirs->ops[i]);
        if (t.i >= 0)
            s->left[result_of(s, &s->theirs->ops[i], t).i] = true;
        else if (clv_str_is(s->theirs->ops[i].type, "ReorderInput"))
            mark_reordered(s, &s->theirs->ops[i]);
    }
    for (int32_t i = s->g->n_ops; i-- > 0;) { /* reshaped more than once, it has the last name */
        clv_tensor viewed = clv_op_viewed(s->g, &s->g->ops[i]);
        if (viewed.i >= 0 && s->left[clv_op_output(s->g, &s->g->ops[i], 0).i])
            s->left[viewed.i] = true;
    }
}

static clv_status find_left(const clv_graph *g, const clv_graph *theirs, clv_arena *arena,
                            bool **ret, clv_error *err)
{
    survivors s = { .g = g, .theirs = theirs, .left = CLV_NEW_ARRAY(arena, bool, g->n_tensors) };
    int32_t id;
    if (!s.left)
        return clv_fail_nomem(err, "tensors");
    CLV_TRY(clv_map_init(&s.tensors, arena, g->n_tensors, err));
    CLV_TRY(clv_map_init(&s.ops, arena, g->n_ops, err));
    for (int32_t t = 0; t < g->n_tensors; t++)
        CLV_TRY(clv_map_put(&s.tensors, g->tensors[t].name, t, &id, err));
    for (int32_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].name.n > 0)
            CLV_TRY(clv_map_put(&s.ops, g->ops[i].name, i, &id, err));
    mark_left(&s);
    *ret = s.left;
    return CLV_OK;
}

/* -- both -- */

/* Is a tensor computed from weights alone, as what the runtime computes when it loads a model? */
static bool *find_constants(const clv_types *types, clv_arena *arena)
{
    const clv_graph *g = types->graph;
    bool *constant = CLV_NEW_ARRAY(arena, bool, g->n_tensors);
    for (int32_t t = 0; constant && t < g->n_tensors; t++)
        constant[t] = types->value[t] || g->tensors[t].role == CLV_TENSOR_WEIGHT;
    for (int32_t i = 0; constant && i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        bool all = true;
        for (int32_t k = 0; k < op->n_in; k++)
            all &= clv_op_input(g, op, k).i < 0 || constant[clv_op_input(g, op, k).i];
        for (int32_t k = 0; k < op->n_out; k++)
            if (clv_op_output(g, op, k).i >= 0)
                constant[clv_op_output(g, op, k).i] |= all;
    }
    return constant;
}

static void compare(const clv_types *types, const clv_kernels *kernels, const bool *constant,
                    const bool *left, int32_t n_their_ops)
{
    const clv_graph *g = types->graph;
    int32_t n = 0, both = 0, ours_only = 0, theirs_only = 0;
    for (int32_t t = 0; t < g->n_tensors; t++) {
        const clv_tensor_info *at = &g->tensors[t];
        if (at->producer.i < 0 || at->is_output || at->n_readers == 0 || constant[t] ||
            clv_op_is_free(types, at->producer) ||
            clv_op_passed(types, clv_op_at(g, at->producer)).i >= 0)
            continue;
        bool ours = kernels->inside[t], gone = !left[t];
        n++;
        both += ours && gone;
        ours_only += ours && !gone;
        theirs_only += gone && !ours;
        if (ours != gone)
            printf("%s\t%.*s\t%.*s\n", ours ? "ours" : "theirs",
                   CLV_STR_ARG(clv_op_at(g, at->producer)->type), CLV_STR_ARG(at->name));
    }
    printf("# %d %d %d %d %d\n", n, both, ours_only, theirs_only, n_their_ops);
}

/* -- files -- */

static clv_status read_theirs(const request *r, const clv_graph *g, clv_arena *arena,
                              bool **ret_left, int32_t *ret_n, clv_error *err)
{
    clv_onnx_file *file;
    clv_model *model;
    CLV_TRY(clv_onnx_open(r->optimized, NULL, &file, err));
    clv_status status = clv_onnx_read(file, arena, &model, err);
    if (status == CLV_OK) {
        *ret_n = model->main->n_ops;
        status = find_left(g, model->main, arena, ret_left, err);
    }
    clv_onnx_close(file);
    return status;
}

/* The model of a file, with what ONNX Runtime makes of it. */
static clv_status compare_file(clv_onnx_file *file, const request *r, clv_arena *arena,
                               clv_error *err)
{
    clv_runtime *runtime;
    clv_kernels *kernels;
    clv_model *model;
    clv_inference *found;
    bool *left = NULL;
    const char *text;
    size_t n;
    int32_t n_their_ops;
    CLV_TRY(clv_read_file(r->runtime, 1 << 20, arena, &text, &n, err));
    CLV_TRY(clv_runtime_parse(text, n, r->runtime, arena, &runtime, err));
    CLV_TRY(clv_onnx_read(file, arena, &model, err));
    CLV_TRY(clv_infer(model, r->bindings, r->n_bindings, arena, &found, err));
    CLV_TRY(clv_kernels_form(found->main, runtime, arena, &kernels, err));
    bool *constant = find_constants(found->main, arena);
    if (!constant)
        return clv_fail_nomem(err, "constants");
    CLV_TRY(optimize(r, err));
    CLV_TRY(read_theirs(r, model->main, arena, &left, &n_their_ops, err));
    compare(found->main, kernels, constant, left, n_their_ops);
    return CLV_OK;
}

static clv_status run(const request *r, clv_arena *arena, clv_error *err)
{
    clv_onnx_file *file;
    CLV_TRY(clv_onnx_open(r->model, NULL, &file, err));
    clv_status status = compare_file(file, r, arena, err);
    clv_onnx_close(file);
    return status;
}

int main(int argc, char **argv)
{
    clv_error err;
    clv_arena *arena = clv_arena_new(NULL, 0);
    int status = 1;
    if (argc < 5 || !arena) {
        fprintf(stderr, "usage: compare_optimized RUNTIME.json MODEL LEVEL OPTIMIZED "
                        "[SYMBOL=VALUE ...]\n");
        return 2;
    }
    request r = { .runtime = argv[1], .model = argv[2], .level = argv[3], .optimized = argv[4] };
    for (int i = 5; i < argc && r.n_bindings < BINDINGS_MAX; i++) {
        char *equals = strrchr(argv[i], '=');
        if (!equals)
            continue;
        *equals = '\0';
        r.symbols[r.n_bindings] = argv[i];
        r.bindings[r.n_bindings++] =
            (clv_binding){ clv_str_of(argv[i]), strtoll(equals + 1, NULL, 10) };
    }
    if (run(&r, arena, &err) != CLV_OK)
        fprintf(stderr, "%s\n", err.message);
    else
        status = 0;
    clv_arena_free(arena);
    return status;
}
