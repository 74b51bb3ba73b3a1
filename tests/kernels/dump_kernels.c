/* dump_kernels.c - prints the kernels that a runtime makes of a model's main graph.
 *
 *   dump_kernels RUNTIME.json MODEL [SYMBOL=VALUE ...]
 *
 * A line is a kernel: "kind<TAB>pattern<TAB>operators<TAB>what is known of it", then "# operators,
 * kernels, tensors that stay inside".
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "graph/infer.h"
#include "kernels/form.h"
#include "kernels/runtime_json.h"
#include "proto/onnx_read.h"

#define BINDINGS_MAX 64

static int read_bindings(int argc, char **argv, clv_binding *ret)
{
    int n = 0;
    for (int i = 3; i < argc && n < BINDINGS_MAX; i++) {
        const char *equals = strrchr(argv[i], '=');
        if (equals)
            ret[n++] = (clv_binding){ { argv[i], (int32_t)(equals - argv[i]) },
                                      strtoll(equals + 1, NULL, 10) };
    }
    return n;
}

static void print(const clv_graph *g, const clv_kernels *k)
{
    int32_t n_inside = 0;
    for (int32_t i = 0; i < k->n; i++) {
        const clv_kernel *at = &k->at[i];
        printf("%s\t%s\t", clv_kernel_kind_name(at->kind), at->pattern ? at->pattern->name : "-");
        for (int32_t m = 0; m < at->n; m++) {
            const clv_op_info *op = clv_op_at(g, k->members[at->first + m]);
            printf("%s%.*s", m ? " " : "", CLV_STR_ARG(op->type));
        }
        printf("\t%.*s", CLV_STR_ARG(clv_op_at(g, at->anchor)->label));
        if (k->share[at->anchor.i] < 1)
            printf(" share=%.3f", k->share[at->anchor.i]);
        if (at->attention)
            printf(" group=%d%s", (int)at->attention->group,
                   at->attention->causal ? " causal" : "");
        printf("\n");
    }
    for (int32_t t = 0; t < g->n_tensors; t++)
        n_inside += k->inside[t];
    printf("# %d %d %d\n", g->n_ops, k->n, n_inside);
}

static clv_status dump(int argc, char **argv, clv_arena *arena, clv_onnx_file **file,
                       clv_error *err)
{
    clv_binding bindings[BINDINGS_MAX];
    clv_model *model;
    clv_inference *found;
    const char *text;
    size_t n;
    clv_runtime *runtime;
    clv_kernels *kernels;
    CLV_TRY(clv_read_file(argv[1], 1 << 20, arena, &text, &n, err));
    CLV_TRY(clv_runtime_parse(text, n, argv[1], arena, &runtime, err));
    CLV_TRY(clv_onnx_open(argv[2], NULL, file, err));
    CLV_TRY(clv_onnx_read(*file, arena, &model, err));
    CLV_TRY(clv_infer(model, bindings, read_bindings(argc, argv, bindings), arena, &found, err));
    CLV_TRY(clv_kernels_form(found->main, runtime, arena, &kernels, err));
    print(model->main, kernels);
    return CLV_OK;
}

int main(int argc, char **argv)
{
    clv_error err;
    clv_onnx_file *file = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    int status = 1;
    if (argc < 3 || !arena)
        fprintf(stderr, "usage: dump_kernels RUNTIME.json MODEL [SYMBOL=VALUE ...]\n");
    else if (dump(argc, argv, arena, &file, &err) != CLV_OK)
        fprintf(stderr, "%s\n", err.message);
    else
        status = 0;
    clv_arena_free(arena);
    clv_onnx_close(file);
    return status;
}
