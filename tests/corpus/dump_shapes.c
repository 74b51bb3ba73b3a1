/* dump_shapes.c - prints what inference finds for each tensor of a model's main graph.
 *
 *   dump_shapes MODEL [SYMBOL=VALUE ...]
 *
 * Lines are "name<TAB>type", then "! sentence" for what the file declares differently and
 * "# operators, tensors, open tensors, open in bodies". compare_shapes.py reads them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "graph/infer.h"
#include "proto/onnx_read.h"

#define BINDINGS_MAX 64

static int read_bindings(int argc, char **argv, clv_binding *ret)
{
    int n = 0;
    for (int i = 2; i < argc && n < BINDINGS_MAX; i++) {
        const char *equals = strrchr(argv[i], '=');
        if (!equals)
            continue;
        ret[n++] = (clv_binding){ { argv[i], (int32_t)(equals - argv[i]) },
                                  strtoll(equals + 1, NULL, 10) };
    }
    return n;
}

static void print(const clv_model *model, const clv_inference *found)
{
    char buf[1024];
    const clv_graph *graph = model->main;
    for (int32_t t = 0; t < graph->n_tensors; t++)
        printf("%.*s\t%s\n", CLV_STR_ARG(graph->tensors[t].name),
               clv_type_show(model, &found->main->of[t], buf, sizeof buf));
    for (int32_t i = 0; i < found->n_conflicts; i++)
        printf("! %.*s\n", CLV_STR_ARG(found->conflicts[i]));
    printf("# %d %d %d %d\n", graph->n_ops, graph->n_tensors, found->n_open,
           found->n_open_in_bodies);
}

int main(int argc, char **argv)
{
    clv_binding bindings[BINDINGS_MAX];
    clv_error err;
    clv_onnx_file *file = NULL;
    clv_model *model;
    clv_inference *found;
    clv_arena *arena = clv_arena_new(NULL, 0);
    int n = read_bindings(argc, argv, bindings);
    int status = 1;
    if (argc < 2 || !arena)
        fprintf(stderr, "usage: dump_shapes MODEL [SYMBOL=VALUE ...]\n");
    else if (clv_onnx_open(argv[1], NULL, &file, &err) != CLV_OK ||
             clv_onnx_read(file, arena, &model, &err) != CLV_OK ||
             clv_infer(model, bindings, n, arena, &found, &err) != CLV_OK)
        fprintf(stderr, "%s: %s\n", argv[1], err.message);
    else {
        print(model, found);
        status = 0;
    }
    clv_arena_free(arena);
    clv_onnx_close(file);
    return status;
}
