#include "weights/shards_source.h"

#include "base/packed.h"
#include "weights/box_cover.h"

/* A block of a weight is elements [first, first + n). What a shard has of it is one stretch of the
 * shard's own bytes, for both are in the same order: it is read in one go, and dealt out to the
 * runs.
 */

typedef struct {
    int32_t shard;  /* of layout.shards */
    clv_runs runs;  /* what is still to come */
    int64_t at;     /* elements read */
    int64_t summed; /* bytes in the checksum; -1: some were left out */
    clv_checksum_state *sum;
} part;

struct clv_shards_source {
    const clv_weights_folder *f;
    clv_files *files;
    int32_t *file_ids;    /* by file of the folder */
    int32_t *first_shard; /* by weight, and one more */
    int32_t weight;       /* the present one; -1: none */
    int bits;             /* of its elements */
    clv_arena *arena;     /* of the parts of one weight */
    part *parts;
    int32_t n_parts;
    const clv_disk *disk;
    clv_arena *home;          /* of this one */
    clv_shards_source *forks; /* of the same folder, in a chain */
    uint8_t *stage; /* CLV_STREAM_BLOCK and two bytes that a block may share with its neighbours */
};

clv_status clv_shards_source_new(const clv_weights_folder *f, const clv_disk *disk,
                                 clv_arena *arena, clv_shards_source **ret, clv_error *err)
{
    clv_shards_source *s = CLV_NEW(arena, clv_shards_source);
    if (s) {
        s->f = f;
        s->weight = -1;
        s->disk = disk;
        s->home = arena;
        s->file_ids = CLV_NEW_ARRAY(arena, int32_t, f->n_files);
        s->first_shard = CLV_NEW_ARRAY(arena, int32_t, f->weights.n + 1);
        s->stage = clv_arena_take(arena, CLV_STREAM_BLOCK + 2);
    }
    if (!s || !s->file_ids || !s->first_shard || !s->stage)
        return clv_fail_nomem(err, "the shards of a folder");
    for (int32_t i = 0; i < f->layout.n_shards; i++)
        s->first_shard[f->layout.shards[i].weight + 1]++;
    for (int32_t w = 0; w < f->weights.n; w++)
        s->first_shard[w + 1] += s->first_shard[w];
    CLV_TRY(clv_files_new(disk, arena, &s->files, err));
    for (int32_t i = 0; i < f->n_files; i++) {
        clv_file_inside file = clv_weights_file_inside(f, &f->files[i], arena);
        if (!file.path)
            return clv_fail_nomem(err, "a path");
        CLV_TRY(clv_files_add(s->files, &file, false, &f->files[i].id, &s->file_ids[i], err));
    }
    s->arena = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!s->arena)
        return clv_fail_nomem(err, "the shards of a folder");
    *ret = s;
    return CLV_OK;
}

void clv_shards_source_free(clv_shards_source *s)
{
    for (; s; s = s->forks) {
        clv_files_close(s->files);
        clv_arena_free(s->arena);
    }
}

/* The first of each group of copies. */
static clv_status begin_weight(clv_shards_source *s, int32_t weight, clv_error *err)
{
    int32_t first = s->first_shard[weight], n = s->first_shard[weight + 1] - first, groups = 0;
    clv_arena *fresh = clv_arena_new(clv_arena_alloc(s->arena), 0);
    if (!fresh)
        return clv_fail_nomem(err, "the shards of a weight");
    clv_arena_free(s->arena);
    s->arena = fresh;
    s->weight = -1;
    s->n_parts = 0;
    const clv_box **boxes = CLV_NEW_ARRAY(fresh, const clv_box *, n);
    int32_t *group_of = CLV_NEW_ARRAY(fresh, int32_t, n);
    s->parts = CLV_NEW_ARRAY(fresh, part, n);
    if (!boxes || !group_of || !s->parts)
        return clv_fail_nomem(err, "the shards of a weight");
    for (int32_t i = 0; i < n; i++)
        boxes[i] = &s->f->layout.shards[first + i].box;
    CLV_TRY(clv_boxes_group(boxes, n, fresh, group_of, &groups, err));
    for (int32_t i = 0; i < n; i++) {
        if (group_of[i] != s->n_parts)
            continue;
        part *p = &s->parts[s->n_parts++];
        p->shard = first + i;
        p->sum = clv_checksum_new(fresh);
        if (!p->sum)
            return clv_fail_nomem(err, "the shards of a weight");
        clv_runs_start(boxes[i], &p->runs);
    }
    s->weight = weight;
    s->bits = clv_dtype_bits(s->f->weights.at[weight].dtype);
    return CLV_OK;
}

/* Passes over the elements before first, which nobody asked for. */
static void skip_to(part *p, int64_t first)
{
    clv_runs *r = &p->runs;
    while (r->n > 0 && r->first < first) {
        int64_t n = r->n < first - r->first ? r->n : first - r->first;
        p->at += n;
        p->summed = -1;
        if (n == r->n)
            clv_runs_next(r);
        else
            clv_runs_skip(r, n);
    }
}

/* Elements of the part below end. */
static int64_t count_below(const part *p, int64_t end)
{
    clv_runs r = p->runs;
    int64_t n = 0;
    for (; r.n > 0 && r.first + r.n <= end; clv_runs_next(&r))
        n += r.n;
    return r.n > 0 && r.first < end ? n + end - r.first : n;
}

/* Reads the next n elements of the part to the stage; *ret_from: which element of it is first. */
static clv_status read_range(clv_shards_source *s, part *p, int64_t n, int64_t *ret_from,
                             clv_error *err)
{
    const clv_shard_place *place = &s->f->places[p->shard];
    int64_t per = s->bits < 8 ? 8 / s->bits : 1, width = s->bits < 8 ? 1 : s->bits / 8;
    int64_t first = p->at / per * width, end = (p->at + n + per - 1) / per * width;
    CLV_TRY(clv_files_read(s->files, s->file_ids[place->file], s->stage, (size_t)(end - first),
                           place->offset + first, err));
    if (p->summed >= 0 && end > p->summed) { /* a byte that two stretches share counts once */
        clv_checksum_add(p->sum, s->stage + (p->summed - first), (size_t)(end - p->summed));
        p->summed = end;
    }
    *ret_from = p->at % per;
    p->at += n;
    return CLV_OK;
}

/* What the part has of elements [first, end), which go to `to`. */
static clv_status read_part(clv_shards_source *s, part *p, int64_t first, int64_t end, uint8_t *to,
                            clv_error *err)
{
    skip_to(p, first);
    int64_t from = 0, n = count_below(p, end);
    if (n == 0)
        return CLV_OK;
    CLV_TRY(read_range(s, p, n, &from, err));
    for (clv_runs *r = &p->runs; r->n > 0 && r->first < end;) {
        int64_t take = r->n < end - r->first ? r->n : end - r->first;
        clv_copy_elems(to, r->first - first, s->stage, from, take, s->bits);
        from += take;
        if (take == r->n)
            clv_runs_next(r);
        else
            clv_runs_skip(r, take);
    }
    return CLV_OK;
}

static clv_status read_weight(void *ctx, int32_t weight, int64_t first, int64_t n, uint8_t *to,
                              clv_error *err)
{
    clv_shards_source *s = ctx;
    if (s->weight != weight)
        CLV_TRY(begin_weight(s, weight, err));
    for (int32_t i = 0; i < s->n_parts; i++)
        CLV_TRY(read_part(s, &s->parts[i], first, first + n, to, err));
    return CLV_OK;
}

static clv_status end_weight(void *ctx, int32_t weight, clv_error *err)
{
    clv_shards_source *s = ctx;
    if (s->weight != weight)
        return CLV_OK; /* it has no elements */
    for (int32_t i = 0; i < s->n_parts; i++) {
        const part *p = &s->parts[i];
        const clv_shard_place *place = &s->f->places[p->shard];
        if (p->summed == place->length && place->length > 0 &&
            !clv_checksum_eq(clv_checksum_end(p->sum), place->checksum))
            return clv_fail(err, CLV_EFORMAT,
                            "%s/%s is damaged: bytes %lld to %lld, a shard of weight '%.*s', are "
                            "not those that were written",
                            s->f->path, s->f->files[place->file].name, (long long)place->offset,
                            (long long)(place->offset + place->length),
                            CLV_STR_ARG(s->f->weights.at[weight].name));
    }
    s->weight = -1;
    return CLV_OK;
}

static clv_status fork_source(void *ctx, clv_weight_source *ret, clv_error *err)
{
    clv_shards_source *s = ctx, *made;
    CLV_TRY(clv_shards_source_new(s->f, s->disk, s->home, &made, err));
    made->forks = s->forks;
    s->forks = made;
    *ret = clv_shards_source_of(made);
    return CLV_OK;
}

clv_weight_source clv_shards_source_of(clv_shards_source *source)
{
    return (clv_weight_source){ read_weight, end_weight, fork_source, source };
}
