#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "proto/fingerprint.h"
#include "proto/memory_sink.h"
#include "proto/onnx.pb-c.h"
#include "proto/onnx_annotate.h"

/* Every model of the ONNX project's own test data, where it is installed. */
#define TESTDATA "/usr/share/libonnx-testdata"

static int n_models; /* nftw takes no context */

/* Each NodeProto of the main graph must have one entry with the right device. */
static void check_entries(const memory *m, const clv_plan *plan, const char *path)
{
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, m->n, m->bytes);
    cr_assert_not_null(model, "%s", path);
    cr_assert_eq(model->graph->n_node, (size_t)plan->n_ops, "%s", path);
    for (size_t i = 0; i < model->graph->n_node; i++) {
        const Onnx__NodeProto *node = model->graph->node[i];
        cr_assert_eq(node->n_device_configurations, 1, "%s", path);
        cr_assert_eq(node->device_configurations[0]->pipeline_stage, plan->device_of_op[i], "%s",
                     path);
    }
    onnx__model_proto__free_unpacked(model, NULL);
}

static void round_trip(const char *path)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_onnx_file *file = NULL, *annotated = NULL;
    clv_model *model = NULL, *again = NULL;
    memory out = { 0 }, back = { 0 };
    clv_sink to_out = memory_sink(&out), to_back = memory_sink(&back);
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_onnx_open(path, NULL, &file, &err), CLV_OK, "%s: %s", path, err.message);
    cr_assert_eq(clv_onnx_read(file, arena, &model, &err), CLV_OK, "%s", err.message);
    clv_plan *plan = plan_in_turn(model, 3, arena);
    cr_assert_eq(
        clv_onnx_annotate(&(clv_onnx_model){ file, model }, plan, true, &to_out, arena, &err),
        CLV_OK, "%s: %s", path, err.message);
    check_entries(&out, plan, path);
    cr_assert_eq(clv_onnx_open_bytes(out.bytes, out.n, NULL, NULL, &annotated, &err), CLV_OK);
    cr_assert_eq(clv_onnx_read(annotated, arena, &again, &err), CLV_OK, "%s: %s", path,
                 err.message);
    cr_assert_eq(clv_onnx_fingerprint(model), clv_onnx_fingerprint(again), "%s", path);
    cr_assert_eq(clv_onnx_strip(annotated, false, &to_back, arena, &err), CLV_OK, "%s: %s", path,
                 err.message);
    cr_assert(back.n == file->n && memcmp(back.bytes, file->bytes, file->n) == 0, "%s", path);
    clv_onnx_close(annotated);
    clv_onnx_close(file);
    clv_arena_free(arena);
    free(out.bytes);
    free(back.bytes);
}

static int visit(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)at;
    size_t n = strlen(path);
    if (kind == FTW_F && S_ISREG(st->st_mode) && n > 5 && strcmp(path + n - 5, ".onnx") == 0) {
        round_trip(path);
        n_models++;
    }
    return 0;
}

/* covers: A.007 */
Test(testdata, every_model_comes_back_byte_for_byte)
{
    if (access(TESTDATA, R_OK) != 0) {
        fprintf(stderr, "skipped: %s is not installed (package libonnx-testdata)\n", TESTDATA);
        return;
    }
    cr_assert_eq(nftw(TESTDATA, visit, 16, FTW_PHYS), 0);
    cr_assert_gt(n_models, 0);
}
