#include "run/output_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct clr_output_files {
    clr_output_options o;
    const clr_program *program;
    const char **folders; /* by request */
    const char **paths;   /* by request, then by output */
    /* of a request only whoever takes its outputs writes these: they were not there before */
    bool *made_folder, *made_file;
    bool *made_root; /* by request: by this one */
};

static clv_status name_files(clr_output_files *f, clv_arena *arena, clv_error *err)
{
    static const char *const ends[] = { [CLR_FILE_PB] = "pb", [CLR_FILE_NPY] = "npy" };
    int32_t n = f->program->n_outputs;

    for (int32_t k = 0; k < f->o.n_requests; k++) {
        const char *folder =
            k == 0 ? f->o.folder : clv_arena_printf(arena, "%s/request_%d", f->o.folder, (int)k);
        f->folders[k] = folder;
        for (int32_t i = 0; folder && i < n; i++) {
            const char *path =
                clv_arena_printf(arena, "%s/output_%d.%s", folder, (int)i, ends[f->o.kind]);
            f->paths[(int64_t)k * n + i] = path;
            folder = path ? folder : NULL;
        }
        if (!folder)
            return clv_fail_nomem(err, "outputs");
    }
    return CLV_OK;
}

clv_status clr_output_files_new(const clr_output_options *options, const clr_program *program,
                                clv_arena *arena, clr_output_files **ret, clv_error *err)
{
    clr_output_files *f = CLV_NEW(arena, clr_output_files);
    int32_t n = options->n_requests;

    if (!f)
        return clv_fail_nomem(err, "outputs");
    *f = (clr_output_files){ .o = *options, .program = program };
    *ret = f;
    if (!options->folder)
        return CLV_OK;
    f->folders = CLV_NEW_ARRAY(arena, const char *, n);
    f->paths = CLV_NEW_ARRAY(arena, const char *, (int64_t)n * program->n_outputs);
    f->made_file = CLV_NEW_ARRAY(arena, bool, (int64_t)n * program->n_outputs);
    f->made_folder = CLV_NEW_ARRAY(arena, bool, n);
    f->made_root = CLV_NEW_ARRAY(arena, bool, n);
    if (!f->folders || !f->paths || !f->made_file || !f->made_folder || !f->made_root)
        return clv_fail_nomem(err, "outputs");
    return name_files(f, arena, err);
}

const char *const *clr_output_files_of(const clr_output_files *f, int32_t request)
{
    return f->paths ? f->paths + (int64_t)request * f->program->n_outputs : NULL;
}

/* -- taking -- */

static clv_status make_folder(const char *folder, bool *ret_made, clv_error *err)
{
    struct stat st;

    *ret_made = mkdir(folder, 0777) == 0;
    if (*ret_made)
        return CLV_OK;
    int why = errno;
    if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode))
        return CLV_OK;
    return clv_fail(err, CLV_EIO, "cannot make the folder %s: %s", folder, strerror(why));
}

static clv_status make_folders(clr_output_files *f, int32_t request, clv_error *err)
{
    CLV_TRY(make_folder(f->o.folder, &f->made_root[request], err));
    return request == 0 ? CLV_OK : make_folder(f->folders[request], &f->made_folder[request], err);
}

/* Describes output i, and writes it where that is wanted. */
static clv_status take_output(clr_output_files *f, int32_t request, clr_execution *x, int32_t i,
                              clr_value_stats *stats, clv_error *err)
{
    int64_t file = (int64_t)request * f->program->n_outputs + i;
    const OrtValue *value = NULL;
    OrtValue *own = NULL;

    CLV_TRY(clr_execution_output(x, i, &value, &own, err));
    clv_status status = clr_value_stats_compute(x->ort, value, stats, err);
    if (status == CLV_OK && f->o.folder) {
        bool was_there = access(f->paths[file], F_OK) == 0;
        status = clr_value_write(x->ort, f->paths[file], f->o.kind, f->program->outputs[i].name,
                                 value, err);
        f->made_file[file] = status == CLV_OK && !was_there;
    }
    clr_value_free(x->ort, own);
    return status;
}

clv_status clr_output_files_take(clr_output_files *f, int32_t request, clr_execution *x,
                                 clr_value_stats *ret_stats, clv_error *err)
{
    if (f->o.folder)
        CLV_TRY(make_folders(f, request, err));
    for (int32_t i = 0; i < f->program->n_outputs; i++)
        CLV_TRY(take_output(f, request, x, i, &ret_stats[i], err));
    return CLV_OK;
}

void clr_output_files_remove(clr_output_files *f)
{
    int32_t n = f->program->n_outputs;
    bool made_root = false;

    for (int32_t k = 0; f->o.folder && k < f->o.n_requests; k++) {
        for (int32_t i = 0; i < n; i++)
            if (f->made_file[(int64_t)k * n + i])
                (void)unlink(f->paths[(int64_t)k * n + i]);
        if (f->made_folder[k])
            (void)rmdir(f->folders[k]);
        made_root = made_root || f->made_root[k];
    }
    if (made_root)
        (void)rmdir(f->o.folder);
}
