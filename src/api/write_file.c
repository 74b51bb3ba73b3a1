#include "api/write_file.h"

#include "proto/out_file.h"

clv_status clv_write_file(const char *path, const clv_alloc *alloc,
                          clv_status (*body)(void *ctx, const clv_sink *to, clv_error *err),
                          void *ctx, clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = body(ctx, &sink, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    return clv_out_commit(out, err);
}

typedef struct {
    const char *at;
    size_t n;
} bytes;

static clv_status write_bytes(void *ctx, const clv_sink *to, clv_error *err)
{
    const bytes *b = ctx;
    return to->write(to->ctx, b->at, b->n, err);
}

clv_status clv_write_text(const char *path, const clv_alloc *alloc, const char *text, size_t n,
                          clv_error *err)
{
    return clv_write_file(path, alloc, write_bytes, &(bytes){ text, n }, err);
}
