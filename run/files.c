/* files.c - are the files of a lowered folder those that were written? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "run/program.h"

static clv_status check_file(const clr_program *p, const clr_file *f, clv_arena *arena,
                             clv_error *err)
{
    const char *path = clv_arena_printf(arena, "%s/%s", p->folder, f->file);
    struct stat st;
    clv_checksum sum, listed;
    char text[CLV_CHECKSUM_TEXT];
    int64_t bytes = 0;

    if (!path)
        return clv_fail_nomem(err, "a path");
    if (stat(path, &st) != 0)
        return clv_fail(err, errno == ENOENT ? CLV_EFORMAT : CLV_EIO,
                        "%s: %s, but the manifest "
                        "lists it",
                        path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size != f->bytes)
        return clv_fail(err, CLV_EFORMAT,
                        "%s was changed: it has %lld bytes, the manifest says %" PRId64, path,
                        (long long)st.st_size, f->bytes);
    CLV_TRY(clv_checksum_file(path, arena, &sum, &bytes, err));
    if (!clv_checksum_parse(f->xxh3, &listed) || !clv_checksum_eq(sum, listed))
        return clv_fail(err, CLV_EFORMAT,
                        "%s was changed: its checksum is %s, the manifest says %.40s", path,
                        clv_checksum_text(text, sum), f->xxh3);
    return CLV_OK;
}

clv_status clr_manifest_check_files(const clr_program *program, clv_arena *arena, clv_error *err)
{
    for (int32_t i = 0; i < program->n_files; i++)
        CLV_TRY(check_file(program, &program->files[i], arena, err));
    return CLV_OK;
}
