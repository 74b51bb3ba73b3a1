#include "api/write_file.h"

#include "proto/out_file.h"

clv_status clv_write_text(const char *path, const clv_alloc *alloc, const char *text, size_t n,
                          clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_out_open(path, alloc, &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = sink.write(sink.ctx, text, n, err);
    if (status == CLV_OK)
        return clv_out_commit(out, err);
    clv_out_abort(out);
    return status;
}
