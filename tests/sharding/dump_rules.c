/* dump_rules.c - prints, as JSON, how each operator of a model's main graph may be split.
 *
 *   dump_rules MODEL [--mesh 2x3] [--apart 3] [SYMBOL=VALUE ...]
 *
 * One object a line for each operator: its factors, the factors of each dimension of its inputs and
 * outputs, what changes on a shard. With a mesh also each allowed choice, by axis the factor that
 * it splits, with the layouts of inputs and outputs. --apart: each factor that is a multiple of so
 * many is taken apart first. Python tests read it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/infer.h"
#include "proto/onnx_read.h"
#include "sharding/factors.h"
#include "sharding/factors_layout.h"
#include "sharding/graph_factors.h"
#include "sharding/refine_uneven.h"

#define BINDINGS_MAX 64

static const char *const kinds[] = { "parallel", "reduced", "whole", "halo", "summands" };
static const char *const reduces[] = {
    "none", "sum", "mean", "max", "min", "prod", "l2", "log_sum"
};

static void print_str(clv_str s)
{
    putchar('"');
    for (int32_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < ' ')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_places(const clv_dim_factors *d)
{
    putchar('[');
    for (int32_t i = 0; i < d->n; i++)
        printf("%s%d", i ? "," : "", d->at[i]);
    putchar(']');
}

static void print_factors(const clv_factors *f)
{
    printf("\"factors\":[");
    for (int32_t i = 0; i < f->n_factors; i++) {
        const clv_factor *one = &f->factors[i];
        printf("%s{\"name\":\"%s\",\"size\":%" PRId64 ",\"kind\":\"%s\",\"reduce\":\"%s\","
               "\"granule\":%" PRId64 ",\"before\":%" PRId64 ",\"after\":%" PRId64
               ",\"even\":%s,\"by_index\":%s}",
               i ? "," : "", one->name, one->size, kinds[one->kind], reduces[one->reduce],
               one->granule, one->before, one->after, one->even ? "true" : "false",
               one->by_index ? "true" : "false");
    }
    putchar(']');
}

static void print_operands(const clv_graph *g, const clv_op_info *op, const clv_factors *f,
                           bool out)
{
    printf(",\"%s\":[", out ? "out" : "in");
    for (int32_t k = 0; k < (out ? f->n_out : f->n_in); k++) {
        const clv_operand_factors *o = out ? &f->out[k] : &f->in[k];
        clv_tensor t = out ? clv_op_output(g, op, k) : clv_op_input(g, op, k);
        printf("%s{\"tensor\":", k ? "," : "");
        print_str(t.i >= 0 ? g->tensors[t.i].name : (clv_str){ NULL, 0 });
        printf(",\"once\":%s,\"dims\":[", o->once ? "true" : "false");
        for (int32_t i = 0; i < o->rank; i++) {
            printf(i ? "," : "");
            print_places(&o->dims[i]);
        }
        printf("]}");
    }
    putchar(']');
}

static void print_locals(const clv_factors *f)
{
    printf(",\"local\":[");
    for (int32_t i = 0; i < f->n_local; i++) {
        const clv_local *one = &f->local[i];
        printf("%s{\"attr\":", i ? "," : "");
        if (one->attr)
            printf("\"%s\"", one->attr);
        else
            printf("null");
        printf(",\"in\":%d,\"at\":%d,\"zero\":%s,\"of\":", one->in, one->at,
               one->zero ? "true" : "false");
        print_places(&one->of);
        putchar('}');
    }
    printf("],\"by_shape\":%s", f->by_shape ? "true" : "false");
}

static void print_layout(const clv_mesh *mesh, const clv_layout *l)
{
    putchar('[');
    for (int32_t a = 0; a < mesh->n_axes; a++)
        printf("%s{\"dim\":%d,\"outer\":%d,\"unit\":%d,\"nest\":%d,\"reduce\":\"%s\"}",
               a ? "," : "", l->dim[a], l->outer[a], l->unit[a], l->nest[a], reduces[l->reduce[a]]);
    putchar(']');
}

static void print_choice(const clv_factors *f, const clv_mesh *mesh, const int16_t *choice)
{
    clv_layout l;
    printf("{\"axes\":[");
    for (int32_t a = 0; a < mesh->n_axes; a++)
        printf("%s%d", a ? "," : "", choice[a]);
    printf("],\"in\":[");
    for (int32_t k = 0; k < f->n_in; k++) {
        clv_factors_in(f, mesh, choice, k, &l);
        printf(k ? "," : "");
        print_layout(mesh, &l);
    }
    printf("],\"out\":[");
    for (int32_t k = 0; k < f->n_out; k++) {
        clv_factors_out(f, mesh, choice, k, &l);
        printf(k ? "," : "");
        print_layout(mesh, &l);
    }
    printf("]}");
}

/* All choices in order, the last axis varies fastest. */
static void print_choices(const clv_factors *f, const clv_mesh *mesh)
{
    int16_t choice[CLV_MESH_AXES_MAX] = { -1, -1, -1 };
    bool first = true;
    int32_t a;
    printf(",\"choices\":[");
    do {
        if (clv_factors_allow(f, mesh, choice)) {
            printf(first ? "" : ",");
            print_choice(f, mesh, choice);
            first = false;
        }
        for (a = mesh->n_axes - 1; a >= 0 && ++choice[a] == f->n_factors; a--)
            choice[a] = -1;
    } while (a >= 0);
    putchar(']');
}

static void print_op(const clv_graph *g, clv_op op, const clv_factors *f, const clv_mesh *mesh)
{
    const clv_op_info *info = &g->ops[op.i];
    printf("{\"op_type\":");
    print_str(info->type);
    printf(",\"domain\":");
    print_str(info->domain);
    printf(",\"name\":");
    print_str(info->label);
    printf(",\"why_whole\":");
    if (f->why_whole)
        print_str(clv_str_of(f->why_whole));
    else
        printf("null");
    putchar(',');
    print_factors(f);
    print_operands(g, info, f, false);
    print_operands(g, info, f, true);
    print_locals(f);
    if (mesh->n_axes > 0)
        print_choices(f, mesh);
    printf("}\n");
}

/* Every factor that can be is taken apart, as clv_factors_all() and clv_factors_for_mesh() do with
 * a few. */
static clv_status take_apart(clv_factors *f, int64_t outer, clv_arena *arena, clv_error *err)
{
    int32_t n = f->n_factors;
    for (int32_t i = 0; i < n && outer > 1; i++)
        if (clv_factor_divisible(&f->factors[i], outer))
            CLV_TRY(clv_factors_refine(f, i, outer, arena, f, err));
    return CLV_OK;
}

static clv_status print_all(const clv_model *model, const clv_types *types, const clv_mesh *mesh,
                            int64_t outer, clv_arena *arena, clv_error *err)
{
    clv_factors *all = NULL;
    CLV_TRY(clv_factors_all(model, types, arena, &all, err));
    CLV_TRY(clv_factors_for_mesh(types, all, mesh, arena, &all, err));
    for (int32_t i = 0; i < model->main->n_ops; i++) {
        CLV_TRY(take_apart(&all[i], outer, arena, err));
        print_op(model->main, (clv_op){ i }, &all[i], mesh);
    }
    return CLV_OK;
}

/* "2x3" */
static clv_mesh read_mesh(const char *text)
{
    clv_mesh mesh = { .size = { 1, 1, 1 }, .n_devices = 1 };
    for (char *end = (char *)text; *end && mesh.n_axes < CLV_MESH_AXES_MAX; end += *end == 'x') {
        long size = strtol(end, &end, 10);
        if (size < 1 || size > INT16_MAX)
            break;
        mesh.size[mesh.n_axes++] = (int32_t)size;
        mesh.n_devices *= (int32_t)size;
    }
    return mesh;
}

int main(int argc, char **argv)
{
    clv_binding bindings[BINDINGS_MAX];
    clv_mesh mesh = { .size = { 1, 1, 1 }, .n_devices = 1 };
    clv_error err;
    clv_onnx_file *file = NULL;
    clv_model *model;
    clv_inference *found;
    clv_arena *arena = clv_arena_new(NULL, 0);
    int n = 0, status = 1;
    int64_t outer = 1;
    for (int i = 2; i < argc; i++) {
        const char *equals = strrchr(argv[i], '=');
        if (strcmp(argv[i], "--mesh") == 0 && i + 1 < argc)
            mesh = read_mesh(argv[++i]);
        else if (strcmp(argv[i], "--apart") == 0 && i + 1 < argc)
            outer = strtoll(argv[++i], NULL, 10);
        else if (equals && n < BINDINGS_MAX)
            bindings[n++] = (clv_binding){ { argv[i], (int32_t)(equals - argv[i]) },
                                           strtoll(equals + 1, NULL, 10) };
    }
    if (argc < 2 || !arena)
        fprintf(stderr, "usage: dump_rules MODEL [--mesh 2x3] [--apart 3] [SYMBOL=VALUE ...]\n");
    else if (clv_onnx_open(argv[1], NULL, &file, &err) != CLV_OK ||
             clv_onnx_read(file, arena, &model, &err) != CLV_OK ||
             clv_infer(model, bindings, n, arena, &found, &err) != CLV_OK ||
             print_all(model, found->main, &mesh, outer, arena, &err) != CLV_OK)
        fprintf(stderr, "%s: %s\n", argv[1], err.message);
    else
        status = 0;
    clv_arena_free(arena);
    clv_onnx_close(file);
    return status;
}
