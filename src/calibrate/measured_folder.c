#include "calibrate/measured_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "calibrate/measured_nccl.h"

#define FILE_MOST ((size_t)256 << 20)

typedef struct {
    const char *folder;
    clv_arena *arena;
    clv_measured_rows rows;
    const char **outputs; /* of nccl-tests; names */
    int32_t n_outputs, cap;
} reader;

static clv_status read_text(reader *r, const char *name, clv_file_text *ret, clv_error *err)
{
    ret->what = clv_arena_printf(r->arena, "%s/%s", r->folder, name);
    if (!ret->what)
        return clv_fail_nomem(err, "measured times");
    return clv_read_file(ret->what, FILE_MOST, r->arena, &ret->text, &ret->n, err);
}

static clv_status list_outputs(reader *r, DIR *dir, clv_error *err)
{
    clv_timed_operation ignored;
    for (struct dirent *e; (e = readdir(dir));) {
        if (!clv_measured_nccl_name(e->d_name, &ignored))
            continue;
        const char *name = clv_arena_printf(r->arena, "%s", e->d_name);
        if (!name || !CLV_PUSH_ROOM(r->arena, r->outputs, r->n_outputs, r->cap))
            return clv_fail_nomem(err, "measured times");
        r->outputs[r->n_outputs++] = name;
    }
    return CLV_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static clv_status read_outputs(reader *r, clv_error *err)
{
    clv_timed_operation operation;
    clv_file_text text;
    if (r->n_outputs > 1)
        qsort(r->outputs, (size_t)r->n_outputs, sizeof *r->outputs, by_name);
    for (int32_t i = 0; i < r->n_outputs; i++) {
        CLV_TRY(read_text(r, r->outputs[i], &text, err));
        if (clv_measured_nccl_name(r->outputs[i], &operation))
            CLV_TRY(clv_measured_nccl(operation, &text, r->arena, &r->rows, err));
    }
    return CLV_OK;
}

static clv_status read_tables(reader *r, clv_error *err)
{
    clv_file_text text;
    for (int f = 0; f < CLV_N_MEASURED_FILES; f++) {
        const char *name = clv_measured_file_name((clv_measured_file)f);
        const char *path = clv_arena_printf(r->arena, "%s/%s", r->folder, name);
        if (!path)
            return clv_fail_nomem(err, "measured times");
        if (access(path, F_OK) != 0)
            continue;
        CLV_TRY(read_text(r, name, &text, err));
        CLV_TRY(clv_measured_csv((clv_measured_file)f, &text, r->arena, &r->rows, err));
    }
    return CLV_OK;
}

clv_status clv_measured_folder(const char *folder, clv_arena *arena, clv_measured_rows *ret,
                               clv_error *err)
{
    reader r = { .folder = folder, .arena = arena };
    DIR *dir = opendir(folder);
    if (!dir)
        return clv_fail(err, CLV_EIO, "cannot read the folder %.200s: %s", folder, strerror(errno));
    clv_status status = list_outputs(&r, dir, err);
    closedir(dir);
    if (status != CLV_OK)
        return status;
    CLV_TRY(read_tables(&r, err));
    CLV_TRY(read_outputs(&r, err));
    if (r.rows.n == 0)
        return clv_fail(
            err, CLV_EFORMAT,
            "%.200s has no measured times, expected gemm.csv, convolution.csv, attention_full.csv, "
            "attention_prefill.csv, attention_decode.csv, collectives.csv, moe.csv or "
            "outputs of nccl-tests",
            folder);
    *ret = r.rows;
    return CLV_OK;
}
