#include "weights/part_write.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel_for.h"
#include "weights/byte_ranges.h"
#include "weights/safetensors.h"

/* Threads take whole weights, each the next one that nobody has, and write them through descriptors
 * and buffers of their own to places that do not meet. So the bytes, and the checksum of each box,
 * are the same on any number of threads; and so is what is said where something fails, for weights
 * before the one that failed have been taken, and are finished.
 */
typedef struct writing writing;

/* What a thread has. */
typedef struct {
    writing *all;
    clv_weight_source source;
    clv_files *disk; /* its files have the numbers of clv_part_files_file() */
    clv_stream *stream;
    clv_checksum_state **summers; /* of the boxes of the present weight */
    const clv_box **boxes;
    int32_t *ids;   /* their places */
    int32_t weight; /* which one in order it wrote last */
    clv_status status;
    clv_error err;
} writer;

typedef struct {
    int32_t rank, first, id; /* first: place of the weight, so that its boxes are together */
} turn;

struct writing {
    clv_part_files *p;
    writer *writers;
    int32_t n_writers;
    const turn *turns;
    int32_t *first;          /* by weight in order: its first turn; and one more */
    int32_t n_weights, most; /* boxes of a weight */
    atomic_int next;         /* weight in order that nobody has */
    atomic_bool failed, stopped;
};

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "the places of shards"); }

/* -- sealing -- */

clv_status clv_part_files_seal(clv_part_files *p, clv_error *err)
{
    assert(!p->sealed);
    p->sealed = true;
    if (p->options.kind == CLV_PARTS_EXTERNAL)
        return CLV_OK;
    int32_t *first = CLV_NEW_ARRAY(p->arena, int32_t, p->n_sets + 1);
    int32_t *next = CLV_NEW_ARRAY(p->arena, int32_t, p->n_sets + 1);
    int32_t *order = CLV_NEW_ARRAY(p->arena, int32_t, p->n_places);
    if (!first || !next || !order)
        return clv_fail_nomem(err, "the places of shards");
    for (int32_t i = 0; i < p->n_places; i++)
        first[p->places[i].set + 1]++;
    for (int32_t s = 0; s < p->n_sets; s++)
        next[s + 1] = first[s + 1] += first[s];
    for (int32_t i = 0; i < p->n_places; i++)
        order[next[p->places[i].set]++] = i;
    for (int32_t s = 0; s < p->n_sets; s++) {
        int32_t *own = order + first[s], n = first[s + 1] - first[s];
        CLV_TRY(p->options.kind == CLV_PARTS_SAFETENSORS
                    ? clv_safetensors_seal(p, &p->sets[s], own, n, err)
                    : clv_ranges_seal(p, &p->sets[s], own, n, err));
    }
    return CLV_OK;
}

/* -- one weight -- */

static void sum_in_file(clv_part_output *f, const clv_placed_box *place, int64_t at,
                        const uint8_t *bytes, size_t n)
{
    int64_t offset = place->pub.offset + at;
    if (at == 0 && f->summed == place->before) {
        clv_checksum_add_zeros(f->sum, (uint64_t)(offset - f->summed));
        f->summed = offset;
    }
    f->in_order = f->in_order && f->summed == offset;
    if (f->in_order) {
        clv_checksum_add(f->sum, bytes, n);
        f->summed += (int64_t)n;
    }
}

static clv_status write_part(void *ctx, int32_t k, const uint8_t *bytes, size_t n, int64_t at,
                             clv_error *err)
{
    writer *w = ctx;
    clv_placed_box *place = &w->all->p->places[w->ids[k]];
    clv_part_output *f = &w->all->p->files[place->pub.file];
    clv_checksum_add(w->summers[k], bytes, n);
    if (w->all->p->options.file_sums && w->all->n_writers == 1)
        sum_in_file(f, place, at, bytes, n);
    return clv_files_write(w->disk, place->pub.file, bytes, n, place->pub.offset + at, err);
}

static clv_status write_weight(writer *w, const turn *turns, int32_t n, clv_error *err)
{
    clv_part_files *p = w->all->p;
    clv_box_sink sink = { write_part, w };
    int32_t weight = p->places[turns[0].id].pub.weight;
    clv_weight_cut cut = { weight, &p->weights->at[weight], w->boxes, n };
    for (int32_t k = 0; k < n; k++) {
        w->ids[k] = turns[k].id;
        w->boxes[k] = &p->places[turns[k].id].pub.box;
        clv_checksum_restart(w->summers[k]);
    }
    CLV_TRY(clv_stream_weight(w->stream, &cut, &w->source, &sink, err));
    for (int32_t k = 0; k < n; k++)
        p->places[w->ids[k]].pub.checksum = clv_checksum_end(w->summers[k]);
    return CLV_OK;
}

/* -- the order of weights -- */

static int by_turn(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The order in which files are written front to back, where every file has the weights in the same
 * order. */
static clv_status sort_boxes(const clv_part_files *p, const turn **ret, clv_error *err)
{
    turn *turns = CLV_NEW_ARRAY(p->arena, turn, p->n_places);
    int32_t *first = CLV_NEW_ARRAY(p->arena, int32_t, p->weights->n);
    if (!turns || !first)
        return clv_fail_nomem(err, "the places of shards");
    for (int32_t i = p->n_places - 1; i >= 0; i--)
        first[p->places[i].pub.weight] = i;
    for (int32_t i = 0; i < p->n_places; i++) {
        int32_t weight = p->places[i].pub.weight;
        int rank = p->options.kind == CLV_PARTS_SAFETENSORS
                       ? clv_safetensors_rank(p->weights->at[weight].dtype)
                       : 0;
        turns[i] = (turn){ rank, first[weight], i };
    }
    qsort(turns, (size_t)p->n_places, sizeof *turns, by_turn);
    *ret = turns;
    return CLV_OK;
}

/* Where the boxes of a weight begin in the turns. */
static clv_status find_weights(writing *w, clv_error *err)
{
    int32_t n = w->p->n_places;
    w->first = CLV_NEW_ARRAY(w->p->arena, int32_t, n + 1);
    if (!w->first)
        return no_memory(err);
    for (int32_t i = 0, k = 0; i <= n; i++) {
        if (i < n && i > 0 && w->turns[i].first == w->turns[i - 1].first)
            continue;
        w->first[k] = i;
        if (k > 0 && i - w->first[k - 1] > w->most)
            w->most = i - w->first[k - 1];
        w->n_weights = k++;
    }
    return CLV_OK;
}

/* -- threads -- */

/* The caller's function is asked on the caller's thread, which is the first writer's. */
static int ask_to_stop(void *ctx)
{
    writer *w = ctx;
    const clv_parts_options *o = &w->all->p->options;
    if (w == w->all->writers && o->stop && o->stop(o->stop_ctx))
        atomic_store(&w->all->stopped, true);
    return atomic_load(&w->all->stopped);
}

static clv_status alloc_writer(writer *w, clv_error *err)
{
    clv_arena *arena = w->all->p->arena;
    int32_t most = w->all->most;
    w->boxes = CLV_NEW_ARRAY(arena, const clv_box *, most);
    w->ids = CLV_NEW_ARRAY(arena, int32_t, most);
    w->summers = CLV_NEW_ARRAY(arena, clv_checksum_state *, most);
    if (!w->boxes || !w->ids || !w->summers)
        return no_memory(err);
    for (int32_t k = 0; k < most; k++) {
        w->summers[k] = clv_checksum_new(arena);
        if (!w->summers[k])
            return no_memory(err);
    }
    size_t memory = CLV_PART_MEMORY / (size_t)w->all->n_writers;
    CLV_TRY(clv_stream_new(most, memory, arena, &w->stream, err));
    clv_stream_set_stop(w->stream, ask_to_stop, w);
    return CLV_OK;
}

static clv_status start_writers(writing *w, const clv_weight_source *source, clv_error *err)
{
    for (int32_t i = 0; i < w->n_writers; i++) {
        writer *one = &w->writers[i];
        one->all = w;
        one->source = *source;
        if (i > 0) {
            CLV_TRY(source->fork(source->ctx, &one->source, err));
            CLV_TRY(clv_files_twin(w->writers[0].disk, w->p->arena, &one->disk, err));
        }
        CLV_TRY(alloc_writer(one, err));
    }
    return CLV_OK;
}

static void write_share(void *ctx, int32_t i)
{
    writing *all = ctx;
    writer *w = &all->writers[i];
    while (w->status == CLV_OK && !atomic_load(&all->failed)) {
        int32_t k = atomic_fetch_add(&all->next, 1);
        if (k >= all->n_weights)
            return;
        const turn *turns = all->turns + all->first[k];
        w->weight = k;
        w->status = write_weight(w, turns, all->first[k + 1] - all->first[k], &w->err);
        if (w->status != CLV_OK)
            atomic_store(&all->failed, true);
    }
}

static clv_status write_weights(writing *w, const clv_weight_source *source, clv_error *err)
{
    const writer *wrong = NULL;
    CLV_TRY(sort_boxes(w->p, &w->turns, err));
    CLV_TRY(find_weights(w, err));
    CLV_TRY(start_writers(w, source, err));
    clv_parallel_threads(w->n_writers, write_share, w);
    for (int32_t i = 0; i < w->n_writers; i++) {
        const writer *one = &w->writers[i];
        if (one->status != CLV_OK && (!wrong || one->weight < wrong->weight))
            wrong = one;
    }
    if (wrong && err)
        *err = wrong->err;
    return wrong ? wrong->status : CLV_OK;
}

/* -- files -- */

/* Each file with its whole size, so that one that may not grow so large is found out first. */
static clv_status begin_files(writing *w, clv_error *err)
{
    clv_part_files *p = w->p;
    clv_files *disk = w->writers[0].disk;
    for (int32_t i = 0, id = 0; i < p->n_files; i++) {
        clv_part_output *f = &p->files[i];
        int folder = clv_out_folder_fd(p->folder);
        const char *path =
            clv_arena_printf(p->arena, "%s/%s", clv_out_folder_path(p->folder), f->pub.name);
        if (!path)
            return clv_fail_nomem(err, "the files of shards");
        if (clv_make_folders_inside(folder, f->pub.name) != 0)
            return clv_fail(err, CLV_EIO, "cannot make the folder of %s: %s", path,
                            strerror(errno));
        clv_file_inside file = { folder, f->pub.name, path };
        CLV_TRY(clv_files_add(disk, &file, true, NULL, &id, err));
        assert(id == i);
        CLV_TRY(clv_files_resize(disk, id, f->pub.bytes, err));
        if (f->head)
            CLV_TRY(clv_files_write(disk, id, f->head, f->n_head, 0, err));
        clv_checksum_add(f->sum, f->head, f->n_head);
        f->summed = (int64_t)f->n_head;
    }
    return CLV_OK;
}

/* What came of a file's checksum. */
typedef struct {
    const writing *w;
    clv_status status;
    clv_error err;
} file_sum;

/* What was not written front to back is read again. */
static void sum_file(void *ctx, int32_t i)
{
    file_sum *s = (file_sum *)ctx + i;
    clv_part_output *f = &s->w->p->files[i];
    int64_t bytes = f->pub.bytes;
    const char *path = clv_files_path(s->w->writers[0].disk, i);
    f->pub.checksum = clv_checksum_end(f->sum);
    if (!f->in_order || f->summed != f->pub.bytes) {
        clv_arena *arena = clv_arena_new(clv_arena_alloc(s->w->p->arena), 0);
        clv_file_inside file = { clv_out_folder_fd(s->w->p->folder), f->pub.name, path };
        s->status = arena ? clv_checksum_inside(&file, arena, &f->pub.checksum, &bytes, &s->err)
                          : clv_fail_nomem(&s->err, "the checksum of a file");
        clv_arena_free(arena);
    }
    if (s->status == CLV_OK && bytes != f->pub.bytes)
        s->status = clv_fail(&s->err, CLV_EIO, "%s was changed while it was written", path);
}

static clv_status sum_files(const writing *w, clv_error *err)
{
    int32_t n = w->p->n_files;
    file_sum *sums = CLV_NEW_ARRAY(w->p->arena, file_sum, n);
    if (!sums)
        return clv_fail_nomem(err, "the checksums of files");
    for (int32_t i = 0; i < n; i++)
        sums[i].w = w;
    clv_parallel_for(n, w->n_writers, sum_file, sums);
    for (int32_t i = 0; i < n; i++)
        if (sums[i].status != CLV_OK) {
            if (err)
                *err = sums[i].err;
            return sums[i].status;
        }
    return CLV_OK;
}

clv_status clv_part_files_write(clv_part_files *p, const clv_weight_source *source, clv_error *err)
{
    int32_t threads = p->options.threads > 1 && source->fork ? p->options.threads : 1;
    writing w = { .p = p, .n_writers = threads };
    assert(p->sealed);
    w.writers = CLV_NEW_ARRAY(p->arena, writer, threads);
    if (!w.writers)
        return clv_fail_nomem(err, "the files of shards");
    CLV_TRY(clv_files_new(p->options.disk, p->arena, &w.writers[0].disk, err));
    clv_status status = begin_files(&w, err);
    if (status == CLV_OK && p->options.kind != CLV_PARTS_RANGES)
        status = write_weights(&w, source, err);
    for (int32_t i = 0; i < threads && status == CLV_OK; i++) /* what closing says, too */
        if (w.writers[i].disk)
            status = clv_files_flush(w.writers[i].disk, err);
    if (status == CLV_OK && p->options.file_sums)
        status = sum_files(&w, err);
    for (int32_t i = 0; i < threads; i++)
        clv_files_close(w.writers[i].disk);
    return status;
}
