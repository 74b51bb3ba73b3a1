#include "proto/onnx.pb-c.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "proto/everything.h"
#include "proto/given_specs.h"
#include "proto/opened.h"
#include "proto/out_file.h"
#include "proto/tensor_data.h"
#include "support/copied.h"
#include "support/failing_alloc.h"

/* Whatever takes memory is run with the first request refused, then the second, and so on until it
 * succeeds: it says that memory ran out, gives all back, and nothing else happens.
 *
 * An arena asks seldom, for blocks of several kilobytes. A limit that grows in small steps fails at
 * each use of the arena instead, so both are tried.
 */
typedef struct {
    opened plain, annotated;
    char folder[32];
} fixture;

static fixture set_up(void)
{
    fixture f = { .plain = open_built(everything()), .folder = "/tmp/clv_memory_XXXXXX" };
    static const uint8_t noise[] = { 1, 9, 3, 7, 5, 2, 8, 13, 1, 1, 6, 3 };
    spec_source source = { noise, sizeof noise, 0, f.plain.arena };
    plan_give_specs(f.plain.plan, f.plain.model, &source);
    cr_assert_gt(f.plain.plan->n_annotations, 0);
    f.annotated = annotated(&f.plain);
    cr_assert_not_null(mkdtemp(f.folder));
    return f;
}

static int files_in(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.' || (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."));
    closedir(dir);
    return n;
}

static void tear_down(fixture *f)
{
    close_opened(&f->plain);
    close_opened(&f->annotated);
    rmdir(f->folder);
}

typedef clv_status (*job)(fixture *f, clv_arena *arena, clv_error *err);

static clv_status read_it(fixture *f, clv_arena *arena, clv_error *err)
{
    clv_model *model = NULL;
    clv_status s = clv_onnx_read(f->plain.file, arena, &model, err);
    cr_assert_eq(model != NULL, s == CLV_OK);
    return s;
}

static clv_status list_it(fixture *f, clv_arena *arena, clv_error *err)
{
    clv_annotation_set set;
    return clv_onnx_read_annotations(f->annotated.file, arena, &set, err);
}

static clv_status annotate_it(fixture *f, clv_arena *arena, clv_error *err)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    const opened *o = &f->plain;
    clv_status s =
        clv_onnx_annotate(&(clv_onnx_model){ o->file, o->model }, o->plan, true, &sink, arena, err);
    free(to.bytes);
    return s;
}

static clv_status strip_it(fixture *f, clv_arena *arena, clv_error *err)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_status s = clv_onnx_strip(f->annotated.file, false, &sink, arena, err);
    cr_assert(s != CLV_OK || to.n == f->plain.n);
    free(to.bytes);
    return s;
}

static clv_status write_it(fixture *f, clv_arena *arena, clv_error *err)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    const opened *o = &f->plain;
    clv_new_model *m = test_copied(o->file, o->model, "_z", o->arena);
    clv_status s = clv_onnx_write(m, &sink, arena, err);
    cr_assert(s == CLV_OK || to.n == 0);
    free(to.bytes);
    return s;
}

static clv_status find_data(fixture *f, clv_arena *arena, clv_error *err)
{
    clv_tensor_data *data = NULL;
    const opened *o = &f->plain;
    CLV_TRY(clv_tensor_data_find(o->file, o->model, arena, &data, err));
    for (int32_t i = 0; i < o->model->main->n_weights; i++) {
        const void *bytes;
        if (data[i].kind == CLV_DATA_TYPED)
            CLV_TRY(clv_tensor_data_decode(o->file, &data[i], arena, &bytes, err));
    }
    return CLV_OK;
}

static void said_so(clv_status s, const clv_error *err)
{
    cr_assert(s == CLV_OK || s == CLV_ENOMEM, "status %d: %s", s, err->message);
    cr_assert(s == CLV_OK || strstr(err->message, "out of memory"), "said: %s", err->message);
}

static void survives(job run)
{
    fixture f = set_up();
    clv_status s = CLV_ENOMEM;
    long failures = 0;
    for (long at = 1; s != CLV_OK; at++, failures++) { /* each block of the arena */
        failing counter = { .fail_at = at };
        clv_alloc alloc = failing_alloc(&counter);
        clv_error err = { CLV_OK, "" };
        clv_arena *arena = clv_arena_new(&alloc, 0);
        cr_assert_eq(arena == NULL, at == 1);
        s = arena ? run(&f, arena, &err) : CLV_ENOMEM;
        if (arena)
            said_so(s, &err);
        clv_arena_free(arena);
        cr_assert_eq(counter.live, 0);
    }
    cr_assert_gt(failures, 1, "something was refused");
    s = CLV_ENOMEM;
    for (size_t limit = 512; s != CLV_OK; limit += limit < (256u << 10) ? 256 : 64) {
        clv_error err = { CLV_OK, "" };
        clv_arena *arena = clv_arena_new(NULL, limit);
        s = run(&f, arena, &err);
        said_so(s, &err);
        clv_arena_free(arena);
    }
    tear_down(&f);
}

Test(memory, reading_survives_running_out_of_it_anywhere) { survives(read_it); }
Test(memory, listing_annotations_survives_running_out_of_it_anywhere) { survives(list_it); }
Test(memory, annotating_survives_running_out_of_it_anywhere) { survives(annotate_it); }
Test(memory, stripping_survives_running_out_of_it_anywhere) { survives(strip_it); }
Test(memory, writing_anew_survives_running_out_of_it_anywhere) { survives(write_it); }
Test(memory, finding_weights_survives_running_out_of_it_anywhere) { survives(find_data); }

/* -- what has an allocator of its own -- */

Test(memory, opening_a_file_survives_running_out_of_it_anywhere)
{
    fixture f = set_up();
    char path[64];
    snprintf(path, sizeof path, "%s/in.onnx", f.folder);
    test_onnx *m = everything();
    onnx_write(m, path);
    onnx_free(m);
    for (int from_bytes = 0; from_bytes < 2; from_bytes++) {
        clv_status s = CLV_ENOMEM;
        for (long at = 1; s != CLV_OK; at++) {
            failing counter = { .fail_at = at };
            clv_alloc alloc = failing_alloc(&counter);
            clv_onnx_file *file = NULL;
            clv_error err = { CLV_OK, "" };
            s = from_bytes
                    ? clv_onnx_open_bytes(f.plain.bytes, f.plain.n, "/tmp", &alloc, &file, &err)
                    : clv_onnx_open(path, &alloc, &file, &err);
            said_so(s, &err);
            cr_assert_eq(file != NULL, s == CLV_OK);
            cr_assert(at > 1 || s == CLV_ENOMEM);
            clv_onnx_close(file);
            cr_assert_eq(counter.live, 0);
        }
    }
    unlink(path);
    tear_down(&f);
}

/* One big enough that its weights go through the copy buffer, which is taken late. */
static clv_onnx_file *big_input(const char *path)
{
    test_onnx *m = everything();
    clv_onnx_file *file = NULL;
    onnx_weight(onnx_main(m), "big", 2, "1000003");
    onnx_write(m, path);
    onnx_free(m);
    cr_assert_eq(clv_onnx_open(path, NULL, &file, NULL), CLV_OK);
    return file;
}

/* Opened, written to by a range that keeps no place in a page, and committed. */
static clv_status write_out(const char *path, const clv_onnx_file *in, const clv_alloc *alloc,
                            clv_error *err)
{
    clv_out_file *out = NULL;
    clv_status s = clv_out_open(path, alloc, &out, err);
    cr_assert_eq(out != NULL, s == CLV_OK);
    if (s != CLV_OK)
        return s;
    clv_sink sink = clv_out_sink(out);
    s = sink.from_file(sink.ctx, in, 1, 1000000, err);
    if (s == CLV_OK)
        return clv_out_commit(out, err);
    clv_out_abort(out);
    return s;
}

Test(memory, writing_a_file_survives_running_out_of_it_anywhere)
{
    fixture f = set_up();
    char in_path[64], path[64];
    snprintf(in_path, sizeof in_path, "%s/in.onnx", f.folder);
    snprintf(path, sizeof path, "%s/out.onnx", f.folder);
    clv_onnx_file *in = big_input(in_path);
    clv_status s = CLV_ENOMEM;
    long failures = 0;
    for (long at = 1; s != CLV_OK; at++, failures++) {
        failing counter = { .fail_at = at };
        clv_alloc alloc = failing_alloc(&counter);
        clv_error err = { CLV_OK, "" };
        s = write_out(path, in, &alloc, &err);
        said_so(s, &err);
        cr_assert_eq(counter.live, 0);
        cr_assert_eq(files_in(f.folder), s == CLV_OK ? 2 : 1, "nothing but the input stays");
    }
    cr_assert_gt(failures, 2, "the arena, its first block and the copy buffer");
    clv_onnx_close(in);
    unlink(in_path);
    unlink(path);
    tear_down(&f);
}
