/* copy_model.c - writes a model anew, each node copied and each tensor renamed (onnx_write.h).
 *
 * Usage: copy_model IN.onnx OUT.onnx SUFFIX
 */
#include <stdio.h>

#include "proto/out_file.h"
#include "support/copied.h"

static clv_status write_to(const char *path, const clv_new_model *m, clv_arena *arena,
                           clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, NULL, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status s = clv_onnx_write(m, &sink, arena, err);
    if (s == CLV_OK)
        return clv_out_commit(out, err);
    clv_out_abort(out);
    return s;
}

int main(int argc, char **argv)
{
    clv_onnx_file *file = NULL;
    clv_model *model;
    clv_error err = { CLV_OK, "" };
    clv_arena *arena = clv_arena_new(NULL, 0);
    if (argc != 4 || !arena) {
        fprintf(stderr, "usage: %s IN.onnx OUT.onnx SUFFIX\n", argv[0]);
        return 2;
    }
    clv_status s = clv_onnx_open(argv[1], NULL, &file, &err);
    if (s == CLV_OK)
        s = clv_onnx_read(file, arena, &model, &err);
    if (s == CLV_OK) {
        clv_new_model *m = test_copied(file, model, argv[3], arena);
        s = m ? write_to(argv[2], m, arena, &err) : clv_fail_nomem(&err, "a model");
    }
    if (s != CLV_OK)
        fprintf(stderr, "%s\n", err.message);
    clv_onnx_close(file);
    clv_arena_free(arena);
    return s == CLV_OK ? 0 : 1;
}
