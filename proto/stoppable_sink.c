#include "proto/stoppable_sink.h"

#define ASK_EVERY ((uint64_t)64 << 20) /* bytes written between two looks at `stop` */

clv_status clv_stoppable_ask(const clv_stoppable *s, clv_error *err)
{
    return s->stop && s->stop(s->stop_ctx)
               ? clv_fail(err, CLV_ECANCELED, "stopped while %s written", s->what)
               : CLV_OK;
}

static clv_status write_bytes(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    const clv_stoppable *s = ctx;
    return s->to.write(s->to.ctx, bytes, n, err);
}

static clv_status copy_in_parts(void *ctx, const clv_onnx_file *file, uint64_t offset, uint64_t n,
                                clv_error *err)
{
    const clv_stoppable *s = ctx;
    for (uint64_t part; n > 0; offset += part, n -= part) {
        part = n < ASK_EVERY ? n : ASK_EVERY;
        CLV_TRY(clv_stoppable_ask(s, err));
        CLV_TRY(s->to.from_file(s->to.ctx, file, offset, part, err));
    }
    return CLV_OK;
}

clv_sink clv_stoppable_sink(clv_stoppable *s)
{
    return (clv_sink){ .write = write_bytes, .from_file = copy_in_parts, .ctx = s };
}
