/* dump_weights.c - the elements of a model's weights, packed, as tensor_data.h finds them.
 *
 * Usage: dump_weights MODEL.onnx BYTES
 *
 * Prints a line for each weight: index, kind, bytes. The bytes themselves go into the file BYTES,
 * one after the other; absent, sparse and string weights have none there, and 0 in their line.
 */
#include <inttypes.h>
#include <stdio.h>

#include "proto/tensor_data.h"

static const char *const kinds[] = { "raw", "external", "typed", "absent", "none" };

static clv_status from_file(const clv_tensor_data *d, FILE *out, clv_error *err)
{
    char buffer[4096];
    FILE *in = fopen(d->path, "rb");
    int64_t left = d->length;
    if (in && fseek(in, (long)d->offset, SEEK_SET) == 0)
        while (left > 0) {
            size_t n = left < (int64_t)sizeof buffer ? (size_t)left : sizeof buffer;
            if (fread(buffer, 1, n, in) != n || fwrite(buffer, 1, n, out) != n)
                break;
            left -= (int64_t)n;
        }
    if (in)
        fclose(in);
    return left ? clv_fail(err, CLV_EIO, "cannot read %s", d->path) : CLV_OK;
}

static clv_status dump(const clv_onnx_file *file, const clv_tensor_data *d, clv_arena *arena,
                       FILE *out, clv_error *err)
{
    const void *bytes = NULL;
    if (d->kind == CLV_DATA_EXTERNAL)
        return from_file(d, out, err);
    if (d->kind == CLV_DATA_ABSENT || d->kind == CLV_DATA_NONE)
        return CLV_OK;
    CLV_TRY(clv_tensor_data_decode(file, d, arena, &bytes, err));
    size_t n = (size_t)d->bytes;
    if (n && fwrite(bytes, 1, n, out) != n)
        return clv_fail(err, CLV_EIO, "cannot write");
    return CLV_OK;
}

static clv_status dump_all(const char *path, FILE *out, clv_arena *arena, clv_error *err)
{
    clv_onnx_file *file;
    clv_model *model;
    clv_tensor_data *data;
    CLV_TRY(clv_onnx_open(path, NULL, &file, err));
    clv_status s = clv_onnx_read(file, arena, &model, err);
    if (s == CLV_OK)
        s = clv_tensor_data_find(file, model, arena, &data, err);
    for (int32_t i = 0; s == CLV_OK && i < model->main->n_weights; i++) {
        bool is_there = data[i].kind != CLV_DATA_ABSENT && data[i].kind != CLV_DATA_NONE;
        printf("%d %s %" PRId64 "\n", i, kinds[data[i].kind], is_there ? data[i].bytes : 0);
        s = dump(file, &data[i], arena, out, err);
    }
    clv_onnx_close(file);
    return s;
}

int main(int argc, char **argv)
{
    clv_error err = { CLV_OK, "" };
    clv_arena *arena = clv_arena_new(NULL, 0);
    FILE *out = argc == 3 ? fopen(argv[2], "wb") : NULL;
    if (!out || !arena) {
        fprintf(stderr, "usage: %s MODEL.onnx BYTES\n", argv[0]);
        return 2;
    }
    clv_status s = dump_all(argv[1], out, arena, &err);
    if (fclose(out) != 0 && s == CLV_OK)
        s = clv_fail(&err, CLV_EIO, "cannot write %s", argv[2]);
    if (s != CLV_OK)
        fprintf(stderr, "%s\n", err.message);
    clv_arena_free(arena);
    return s == CLV_OK ? 0 : 1;
}
