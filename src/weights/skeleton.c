#include "weights/skeleton.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graph/graph.h"
#include "weights/shards_source.h"

#define BLOCK ((size_t)1 << 16) /* bytes that are copied at a time */

static_assert(BLOCK >= (size_t)16 * CLV_VALUE_MAX, "a small weight of complex128 is one block");

static clv_status failed(const clv_weights_folder *f, clv_error *err)
{
    return clv_fail(err, CLV_EIO, "%s: the model in it cannot be put together: %s", f->path,
                    errno ? strerror(errno) : CLV_WEIGHTS_REST " is cut short");
}

/* n bytes from `from` of the rest to `to` of the model. */
static clv_status copy(const clv_weights_folder *f, int rest, int64_t from, int model, int64_t to,
                       int64_t n, uint8_t *block, clv_error *err)
{
    while (n > 0) {
        size_t want = n < (int64_t)BLOCK ? (size_t)n : BLOCK;
        errno = 0;
        ssize_t got = pread(rest, block, want, from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || pwrite(model, block, (size_t)got, to) != got)
            return failed(f, err);
        from += got;
        to += got;
        n -= got;
    }
    return CLV_OK;
}

static clv_status fill(const clv_weights_folder *f, int rest, int model, clv_arena *arena,
                       clv_error *err)
{
    const clv_rest_range *range;
    int32_t n;
    int64_t at = 0; /* the model's is the first of the originals in the rest */
    uint8_t *block = clv_arena_take(arena, BLOCK);
    if (!block)
        return clv_fail_nomem(err, "a model");
    CLV_TRY(clv_rest_ranges(f, 0, arena, &range, &n, err));
    errno = 0;
    if (ftruncate(model, f->originals[0].bytes) != 0)
        return failed(f, err);
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(copy(f, rest, at, model, range[i].offset, range[i].length, block, err));
        at += range[i].length;
    }
    return CLV_OK;
}

/* The weight's elements from its shards, where they were in the model. */
static clv_status put_weight(const clv_weights_folder *f, const clv_weight_source *source,
                             int32_t weight, int model, uint8_t *block, clv_error *err)
{
    const clv_original_place *place = &f->payloads[weight];
    CLV_TRY(source->read(source->ctx, weight, 0, f->weights.at[weight].elems, block, err));
    CLV_TRY(source->end(source->ctx, weight, err));
    errno = 0;
    return pwrite(model, block, (size_t)place->length, place->offset) == place->length
               ? CLV_OK
               : failed(f, err);
}

/* Those whose values are looked at where types are found. */
static clv_status put_small_weights(const clv_weights_folder *f, const clv_weight_source *source,
                                    int model, clv_arena *arena, clv_error *err)
{
    uint8_t *block = clv_arena_take(arena, BLOCK);
    bool *done = CLV_NEW_ARRAY(arena, bool, f->weights.n);
    if (!block || !done)
        return clv_fail_nomem(err, "a model");
    for (int32_t i = 0; i < f->layout.n_shards; i++) {
        int32_t w = f->layout.shards[i].weight;
        bool small = f->weights.at[w].elems <= CLV_VALUE_MAX;
        if (!done[w] && small && f->payloads[w].file == 0)
            CLV_TRY(put_weight(f, source, w, model, block, err));
        done[w] = true;
    }
    return CLV_OK;
}

static clv_status put_weights(const clv_weights_folder *f, int model, clv_arena *arena,
                              clv_error *err)
{
    clv_shards_source *source = NULL;
    clv_status status = clv_shards_source_new(f, NULL, arena, &source, err);
    if (status == CLV_OK) {
        clv_weight_source from = clv_shards_source_of(source);
        status = put_small_weights(f, &from, model, arena, err);
    }
    clv_shards_source_free(source);
    return status;
}

static clv_status open_made(const clv_weights_folder *f, int model, clv_arena *arena,
                            clv_onnx_file **ret, clv_error *err)
{
    const char *rest_path = clv_arena_printf(arena, "%s/%s", f->path, f->rest.name);
    const char *model_path = clv_arena_printf(arena, "/proc/self/fd/%d", model);
    if (!rest_path || !model_path)
        return clv_fail_nomem(err, "a model");
    int rest = open(rest_path, O_RDONLY | O_CLOEXEC);
    if (rest < 0)
        return failed(f, err);
    clv_status status = fill(f, rest, model, arena, err);
    close(rest);
    CLV_TRY(status);
    CLV_TRY(put_weights(f, model, arena, err));
    return clv_onnx_open(model_path, clv_arena_alloc(arena), ret, err);
}

clv_status clv_weights_skeleton_open(const clv_weights_folder *f, clv_arena *arena,
                                     clv_onnx_file **ret, clv_error *err)
{
    int model = memfd_create("model", MFD_CLOEXEC);
    if (model < 0 || f->n_originals < 1) {
        if (model >= 0)
            close(model);
        return failed(f, err);
    }
    clv_status status = open_made(f, model, arena, ret, err);
    close(model); /* the opened file has its own descriptor, or its map */
    return status;
}
