#include "base/rename_unit.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/open_inside.h"
#include "base/temporary.h"

#define LIST_END   ".cleave.unit"
#define LIST_HEAD  "cleave unit 1"
#define LIST_MAX   ((size_t)16 << 20)
#define LIST_TRIES 1000 /* lists of other writers, one after the other */

/* -- one renaming -- */

/* What a renaming did, so that it can be undone. */
typedef enum { NOTHING, RENAMED, EXCHANGED } deed;

/* The folders that both names are in; to be closed where it is not the unit's own. */
typedef struct {
    int from, to;
    const char *from_base, *to_base;
} ends;

static void close_ends(const ends *e, int folder)
{
    int error = errno;
    if (e->from >= 0 && e->from != folder)
        close(e->from);
    if (e->to >= 0 && e->to != folder)
        close(e->to);
    errno = error;
}

static bool open_ends(int folder, const char *from, const char *to, ends *ret)
{
    ret->to = -1;
    ret->from = clv_open_parent_inside(folder, from, &ret->from_base);
    if (ret->from >= 0)
        ret->to = clv_open_parent_inside(folder, to, &ret->to_base);
    if (ret->to >= 0)
        return true;
    close_ends(ret, folder);
    return false;
}

/* The kernel's call, which not every C library has: flags as in linux/fs.h. */
enum { NO_REPLACE = 1, EXCHANGE = 2 };

static bool rename_as(const ends *e, unsigned how)
{
    return syscall(SYS_renameat2, e->from, e->from_base, e->to, e->to_base, how) == 0;
}

static bool is_unknown(int error)
{
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

/* For file systems that know only the plain renaming. */
static bool rename_new(const ends *e)
{
    struct stat st;
    if (rename_as(e, NO_REPLACE))
        return true;
    if (!is_unknown(errno))
        return false;
    errno = EEXIST;
    return fstatat(e->to, e->to_base, &st, AT_SYMLINK_NOFOLLOW) != 0 &&
           renameat(e->from, e->from_base, e->to, e->to_base) == 0;
}

/* A file that is replaced is kept under the temporary name till all is done. */
static deed rename_one(const ends *e, bool is_new)
{
    struct stat st;
    if (!is_new && rename_as(e, EXCHANGE)) {
        if (fstatat(e->from, e->from_base, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(st.st_mode) ||
            S_ISLNK(st.st_mode))
            return EXCHANGED;
        (void)rename_as(e, EXCHANGE); /* a folder or a device is no file to be replaced */
        errno = S_ISDIR(st.st_mode) ? EISDIR : ENOTSUP;
        return NOTHING;
    }
    if (is_new || errno == ENOENT)
        return rename_new(e) ? RENAMED : NOTHING;
    return is_unknown(errno) && renameat(e->from, e->from_base, e->to, e->to_base) == 0 ? RENAMED
                                                                                        : NOTHING;
}

static void undo_one(const ends *e, deed what)
{
    if (what == EXCHANGED)
        (void)rename_as(e, EXCHANGE);
    else if (what == RENAMED)
        (void)renameat(e->to, e->to_base, e->from, e->from_base);
}

/* All, or none. */
static bool rename_all(const clv_unit *unit, deed *did)
{
    ends e;
    for (int32_t i = 0; i < unit->n; i++) {
        did[i] = NOTHING;
        const clv_renaming *r = &unit->at[i];
        if (open_ends(r->folder, r->from, r->to, &e)) {
            did[i] = rename_one(&e, r->is_new);
            close_ends(&e, r->folder);
        }
        if (did[i] != NOTHING)
            continue;
        int error = errno;
        while (i-- > 0) {
            r = &unit->at[i];
            if (open_ends(r->folder, r->from, r->to, &e)) {
                undo_one(&e, did[i]);
                close_ends(&e, r->folder);
            }
        }
        errno = error;
        return false;
    }
    return true;
}

/* -- lists -- */

/* A text with NULs: LIST_HEAD, then of each renaming from, to, "new" or "", device and number of
 * the file in decimal. */
static bool identify(int folder, const char *name, struct stat *ret)
{
    const char *base;
    int parent = clv_open_parent_inside(folder, name, &base);
    bool found = parent >= 0 && fstatat(parent, base, ret, AT_SYMLINK_NOFOLLOW) == 0;
    if (parent >= 0 && parent != folder)
        close(parent);
    return found;
}

static bool write_all(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t did = write(fd, at, n);
        if (did < 0 && errno == EINTR)
            continue;
        if (did < 0)
            return false;
        at += did;
        n -= (size_t)did;
    }
    return true;
}

static bool is_same_folder(int a, int b)
{
    struct stat x, y;
    return a == b ||
           (fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static bool write_list(const clv_unit *unit, int fd)
{
    bool ok = write_all(fd, LIST_HEAD, sizeof LIST_HEAD);
    for (int32_t i = 0; i < unit->n && ok; i++) {
        const clv_renaming *r = &unit->at[i];
        struct stat st;
        char number[64];
        if (!is_same_folder(r->folder, unit->at[0].folder))
            continue;
        ok = identify(r->folder, r->from, &st);
        int n = snprintf(number, sizeof number, "%llu %llu", (unsigned long long)st.st_dev,
                         (unsigned long long)st.st_ino);
        ok = ok && write_all(fd, r->from, strlen(r->from) + 1) &&
             write_all(fd, r->to, strlen(r->to) + 1) &&
             write_all(fd, r->is_new ? "new" : "", r->is_new ? 4 : 1) &&
             write_all(fd, number, (size_t)n + 1);
    }
    return ok;
}

/* The next text of a list; NULL at its end. */
static const char *next_text(const char **at, const char *end)
{
    const char *text = *at, *stop = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    if (stop)
        *at = stop + 1;
    return stop ? text : NULL;
}

/* Names that are ours to rename: below the folder, from a temporary. */
static bool is_fair(const char *from, const char *to)
{
    char first[NAME_MAX + 1];
    size_t n = strcspn(from, "/");
    if (n > NAME_MAX)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)n, from);
    return clv_is_temporary_name(first) && *to;
}

/* One line of a list; the texts are the list's. */
typedef struct {
    const char *from, *to;
    bool is_new;
    unsigned long long device, number;
} line;

/* False at the end, with *ret_bad where the list is none of ours. */
static bool next_line(const char **at, const char *end, line *ret, bool *ret_bad)
{
    const char *from = next_text(at, end), *to = next_text(at, end);
    const char *kind = next_text(at, end), *number = next_text(at, end);
    if (!from)
        return false;
    *ret_bad = !number || !is_fair(from, to) ||
               sscanf(number, "%llu %llu", &ret->device, &ret->number) != 2;
    ret->from = from;
    ret->to = to;
    ret->is_new = kind && strcmp(kind, "new") == 0;
    return !*ret_bad;
}

/* Has the file that the list had in mind not moved yet? */
static bool is_to_do(int folder, const line *l)
{
    struct stat st;
    return identify(folder, l->from, &st) && st.st_dev == l->device && st.st_ino == l->number;
}

static void do_line(int folder, const line *l)
{
    ends e;
    if (!open_ends(folder, l->from, l->to, &e))
        return;
    if (l->is_new)
        (void)rename_new(&e);
    else
        (void)renameat(e.from, e.from_base, e.to, e.to_base);
    close_ends(&e, folder);
}

/* Where nothing was renamed yet nothing is: the run was stopped before its outputs appeared. */
static bool finish_list(int folder, const char *text, size_t n)
{
    const char *at = text, *end = text + n;
    const char *head = next_text(&at, end), *first = at;
    bool bad = !head || strcmp(head, LIST_HEAD) != 0, begun = false;
    line l;
    while (!bad && next_line(&at, end, &l, &bad))
        begun = begun || !is_to_do(folder, &l);
    at = first;
    while (begun && !bad && next_line(&at, end, &l, &bad))
        if (is_to_do(folder, &l))
            do_line(folder, &l);
    return !bad;
}

static bool is_still(int folder, const char *name, int fd)
{
    struct stat is, there;
    return fstat(fd, &is) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           is.st_dev == there.st_dev && is.st_ino == there.st_ino;
}

/* A list whose writer is gone is done to the end; one that is held is waited for. False: it stays,
 * as it is another user's, or none of ours. */
static bool finish_unit(int folder, const char *list)
{
    struct stat st;
    const char *text;
    size_t n;
    int fd = openat(folder, list, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    clv_arena *arena = NULL;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    while (ours && flock(fd, LOCK_EX) != 0)
        ours = errno == EINTR;
    bool done = ours && !is_still(folder, list, fd);
    if (ours && !done && (arena = clv_arena_new(NULL, 0))) {
        clv_opened_file file = { fcntl(fd, F_DUPFD_CLOEXEC, 0), list, LIST_MAX };
        done = file.fd >= 0 && clv_read_opened(&file, arena, &text, &n, NULL) == CLV_OK &&
               finish_list(folder, text, n) && unlinkat(folder, list, 0) == 0;
    }
    clv_arena_free(arena);
    close(fd);
    return done;
}

/* -- committing -- */

static void list_name(const char *base, char ret[static NAME_MAX + 1])
{
    snprintf(ret, NAME_MAX + 1, ".%.200s" LIST_END, base);
}

/* Gives the list its name, when no other has it. */
static bool publish(int folder, const char *temporary, const char *list)
{
    for (int k = 0; k < LIST_TRIES; k++) {
        ends e = { folder, folder, temporary, list };
        if (rename_new(&e))
            return true;
        if (errno != EEXIST || !finish_unit(folder, list))
            return false;
    }
    return false;
}

static clv_status fail(const clv_unit *unit, const char *list, clv_error *err)
{
    if (errno == EEXIST && *list)
        return clv_fail(err, CLV_EIO,
                        "cannot write %s: %s is in its folder, expected no such file or one that a "
                        "run of this user left",
                        unit->path, list);
    return clv_fail(err, CLV_EIO, "cannot write %s: %s", unit->path, strerror(errno));
}

clv_status clv_unit_commit(const clv_unit *unit, clv_arena *arena, clv_error *err)
{
    clv_temporary t = { .fd = -1 };
    char list[NAME_MAX + 1];
    int folder = unit->at[0].folder;
    deed *did = CLV_NEW_ARRAY(arena, deed, unit->n);
    assert(unit->n > 0);
    if (!did)
        return clv_fail_nomem(err, "the names of files");
    list_name(unit->at[0].to, list);
    if (!clv_temporary_file(folder, unit->at[0].to, &t) || !write_list(unit, t.fd)) {
        clv_temporary_remove(folder, &t);
        return fail(unit, "", err);
    }
    if (!publish(folder, t.name, list)) {
        clv_temporary_remove(folder, &t);
        return fail(unit, list, err);
    }
    bool ok = rename_all(unit, did);
    int error = errno;
    (void)unlinkat(folder, list, 0);
    close(t.fd);
    errno = error;
    return ok ? CLV_OK : fail(unit, "", err);
}

/* -- what others left -- */

static bool is_list_name(const char *name)
{
    size_t n = strlen(name), n_end = strlen(LIST_END);
    return n > n_end + 1 && *name == '.' && strcmp(name + n - n_end, LIST_END) == 0;
}

/* Is there a list? finish: each is done to the end first. */
static bool look_for_lists(int folder, bool finish)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    bool some = false;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (is_list_name(e->d_name))
            some = !finish || !finish_unit(folder, e->d_name) || some;
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return some;
}

static bool has_lists(int folder) { return look_for_lists(folder, false); }

void clv_tidy_folder(int folder)
{
    (void)look_for_lists(folder, true);
    clv_temporaries_sweep(folder, has_lists);
}

void clv_finish_unit_of(int folder, const char *base)
{
    char list[NAME_MAX + 1];
    list_name(base, list);
    (void)finish_unit(folder, list);
}

void clv_finish_units_beside(const char *path)
{
    const char *base;
    int folder = clv_open_folder_of(path, &base);
    if (folder < 0)
        return;
    (void)look_for_lists(folder, true);
    close(folder);
}
