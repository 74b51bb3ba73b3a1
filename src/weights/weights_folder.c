#include "weights/weights_folder.h"

#include <stdlib.h>

int64_t clv_whole_bytes(const clv_weight *w)
{
    int bits = clv_dtype_bits(w->dtype);
    return bits >= 8 ? w->bytes : w->elems / 8 * bits + w->elems % 8 * bits / 8;
}

clv_file_inside clv_weights_file_inside(const clv_weights_folder *f, const clv_weights_file *file,
                                        clv_arena *arena)
{
    return (clv_file_inside){ f->fd, file->name,
                              clv_arena_printf(arena, "%s/%s", f->path, file->name) };
}

/* -- the rest -- */

static int by_offset(const void *a, const void *b)
{
    const clv_rest_range *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->length > y->length) - (x->length < y->length);
}

/* Payloads of sharded weights in a file, sorted. */
static clv_status payloads_of(const clv_weights_folder *f, int32_t original, clv_arena *arena,
                              clv_rest_range **ret, int32_t *ret_n, clv_error *err)
{
    int32_t n = 0;
    bool *sharded = CLV_NEW_ARRAY(arena, bool, f->weights.n);
    clv_rest_range *at = CLV_NEW_ARRAY(arena, clv_rest_range, f->weights.n);
    if (!sharded || !at)
        return clv_fail_nomem(err, "the rest of a model");
    for (int32_t i = 0; i < f->layout.n_shards; i++)
        sharded[f->layout.shards[i].weight] = true;
    for (int32_t w = 0; w < f->weights.n; w++)
        if (sharded[w] && f->payloads[w].file == original && f->payloads[w].length > 0)
            at[n++] = (clv_rest_range){ f->payloads[w].offset, f->payloads[w].length };
    qsort(at, (size_t)n, sizeof *at, by_offset);
    *ret = at;
    *ret_n = n;
    return CLV_OK;
}

clv_status clv_rest_ranges(const clv_weights_folder *f, int32_t original, clv_arena *arena,
                           const clv_rest_range **ret, int32_t *ret_n, clv_error *err)
{
    clv_rest_range *taken = NULL;
    int32_t n_taken = 0, n = 0;
    int64_t at = 0, end = f->originals[original].bytes;
    CLV_TRY(payloads_of(f, original, arena, &taken, &n_taken, err));
    clv_rest_range *rest = CLV_NEW_ARRAY(arena, clv_rest_range, n_taken + 1);
    if (!rest)
        return clv_fail_nomem(err, "the rest of a model");
    for (int32_t i = 0; i < n_taken; i++) {
        if (taken[i].offset > at)
            rest[n++] = (clv_rest_range){ at, taken[i].offset - at };
        if (taken[i].offset + taken[i].length > at)
            at = taken[i].offset + taken[i].length;
    }
    if (at < end)
        rest[n++] = (clv_rest_range){ at, end - at };
    *ret = rest;
    *ret_n = n;
    return CLV_OK;
}
