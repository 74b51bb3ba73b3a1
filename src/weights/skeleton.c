#include "weights/skeleton.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graph/graph.h"
#include "weights/shards_source.h"

#define BLOCK ((size_t)1 << 16) /* bytes that are copied at a time */

static_assert(BLOCK >= (size_t)16 * CLV_VALUE_MAX, "a small weight of complex128 is one block");

static clv_status fail_assembling(const clv_weights_folder *f, clv_error *err)
{
    return clv_fail(err, CLV_EIO, "%s: the model in it cannot be put together: %s", f->path,
                    errno ? strerror(errno) : CLV_WEIGHTS_REST " is cut short");
}

typedef struct {
    const clv_weights_folder *f;
    clv_arena *arena;
    int rest, model; /* descriptors */
    uint8_t *block;
} assembly;

/* n bytes from `from` of the rest to `to` of the model. */
static clv_status copy_bytes(const assembly *a, int64_t from, int64_t to, int64_t n, clv_error *err)
{
    while (n > 0) {
        size_t want = n < (int64_t)BLOCK ? (size_t)n : BLOCK;
        errno = 0;
        ssize_t got = pread(a->rest, a->block, want, from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || pwrite(a->model, a->block, (size_t)got, to) != got)
            return fail_assembling(a->f, err);
        from += got;
        to += got;
        n -= got;
    }
    return CLV_OK;
}

static clv_status copy_rest(const assembly *a, clv_error *err)
{
    const clv_rest_range *range;
    int32_t n;
    int64_t at = 0; /* the model's is the first of the originals in the rest */
    CLV_TRY(clv_rest_ranges(a->f, 0, a->arena, &range, &n, err));
    errno = 0;
    if (ftruncate(a->model, a->f->originals[0].bytes) != 0)
        return fail_assembling(a->f, err);
    for (int32_t i = 0; i < n; at += range[i++].length)
        CLV_TRY(copy_bytes(a, at, range[i].offset, range[i].length, err));
    return CLV_OK;
}

/* Those whose values are looked at where types are found: their elements from the shards, where
 * they were in the model. */
static clv_status copy_small_weights(const assembly *a, const clv_weight_source *source,
                                     clv_error *err)
{
    const clv_weights_folder *f = a->f;
    bool *done = CLV_NEW_ARRAY(a->arena, bool, f->weights.n);
    if (!done)
        return clv_fail_nomem(err, "a model");
    for (int32_t i = 0; i < f->layout.n_shards; i++) {
        int32_t w = f->layout.shards[i].weight;
        const clv_original_place *place = &f->payloads[w];
        bool small = f->weights.at[w].elems <= CLV_VALUE_MAX;
        if (!done[w] && small && place->file == 0) {
            CLV_TRY(source->read(source->ctx, w, 0, f->weights.at[w].elems, a->block, err));
            CLV_TRY(source->end(source->ctx, w, err));
            errno = 0;
            if (pwrite(a->model, a->block, (size_t)place->length, place->offset) != place->length)
                return fail_assembling(f, err);
        }
        done[w] = true;
    }
    return CLV_OK;
}

static clv_status assemble(assembly *a, clv_error *err)
{
    clv_shards_source *source = NULL;
    clv_file_inside rest = clv_weights_file_inside(a->f, &a->f->rest, a->arena);
    clv_file_id is;
    a->block = clv_arena_take(a->arena, BLOCK);
    if (!rest.path || !a->block)
        return clv_fail_nomem(err, "a model");
    CLV_TRY(clv_open_inside_or_fail(&rest, &a->rest, &is, err));
    clv_status status =
        is.device == a->f->rest.id.device && is.number == a->f->rest.id.number
            ? copy_rest(a, err)
            : clv_fail(err, CLV_EIO, "%s was replaced while it was read", rest.path);
    close(a->rest);
    CLV_TRY(status);
    CLV_TRY(clv_shards_source_new(a->f, NULL, a->arena, &source, err));
    clv_weight_source from = clv_shards_source_of(source);
    status = copy_small_weights(a, &from, err);
    clv_shards_source_free(source);
    return status;
}

clv_status clv_weights_skeleton_open(const clv_weights_folder *f, clv_arena *arena,
                                     clv_onnx_file **ret, clv_error *err)
{
    assembly a = { .f = f, .arena = arena, .model = memfd_create("model", MFD_CLOEXEC) };
    if (a.model < 0 || f->n_originals < 1) {
        if (a.model >= 0)
            close(a.model);
        return fail_assembling(f, err);
    }
    const char *path = clv_arena_printf(arena, "/proc/self/fd/%d", a.model);
    clv_status status = path ? assemble(&a, err) : clv_fail_nomem(err, "a model");
    if (status == CLV_OK)
        status = clv_onnx_open(path, clv_arena_alloc(arena), ret, err);
    close(a.model); /* the opened file has its own descriptor, or its map */
    return status;
}
