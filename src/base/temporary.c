#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_TRIES  100
#define DEPTH_MAX   64 /* folders in each other that are removed; what we write has three */

#define FILE_END    ".cleave.tmp"
#define FOLDER_WORD ".tmp-cleave-"

/* -- names -- */

/* "123SEPARATOR45" at the end of [text, end), which then begins where the 123 does. */
static bool end_in_numbers(const char *text, const char **end, char separator)
{
    const char *at = *end;
    for (int part = 0; part < 2; part++) {
        const char *behind = at;
        while (at > text && at[-1] >= '0' && at[-1] <= '9')
            at--;
        if (at == behind || at == text)
            return false;
        if (part == 0 && *--at != separator)
            return false;
    }
    *end = at;
    return true;
}

static bool is_file_name(const char *name)
{
    size_t n = strlen(name), n_end = strlen(FILE_END);
    const char *end = name + n - n_end;
    return n > n_end && *name == '.' && strcmp(end, FILE_END) == 0 &&
           end_in_numbers(name, &end, '.') && end > name + 1 && end[-1] == '.';
}

static bool is_folder_name(const char *name)
{
    const char *end = name + strlen(name);
    size_t n = strlen(FOLDER_WORD);
    return end_in_numbers(name, &end, '-') && (size_t)(end - name) > n &&
           strncmp(end - n, FOLDER_WORD, n) == 0;
}

bool clv_is_temporary_name(const char *name) { return is_file_name(name) || is_folder_name(name); }

/* -- making -- */

static bool is_still(int folder, const char *name, int fd)
{
    struct stat is, there;
    return fstat(fd, &is) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           is.st_dev == there.st_dev && is.st_ino == there.st_ino;
}

/* True also where the file system has no locks: then nobody takes it for a leftover either. */
static void lock(int fd)
{
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
        continue;
}

typedef enum { ANY_FILE, ANY_FOLDER, PRIVATE_FOLDER } kind;

static int open_new(int folder, const char *name, kind what)
{
    if (what == ANY_FILE)
        return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (mkdirat(folder, name, what == PRIVATE_FOLDER ? 0700 : 0777) != 0)
        return -1;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    if (fd < 0)
        (void)unlinkat(folder, name, AT_REMOVEDIR);
    errno = error;
    return fd;
}

/* Where others may write, the next name must not be foreseen: they could take it first. */
static unsigned number_of(kind what, int try)
{
    unsigned number;
    if (what == PRIVATE_FOLDER && getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number)
        return number;
    return (unsigned)try;
}

static bool make(int folder, const char *base, kind what, clv_temporary *ret)
{
    for (int k = 0; k < NAME_TRIES; k++) {
        clv_temporary t = { .fd = -1 };
        const char *form =
            what == ANY_FILE ? ".%.200s.%ld.%u" FILE_END : "%.200s" FOLDER_WORD "%ld-%u";
        snprintf(t.name, sizeof t.name, form, base, (long)getpid(), number_of(what, k));
        t.fd = open_new(folder, t.name, what);
        if (t.fd < 0 && errno != EEXIST && errno != ENOENT)
            return false;
        if (t.fd < 0) /* taken, or a new folder that somebody who tidies up removed at once */
            continue;
        lock(t.fd);
        if (is_still(folder, t.name, t.fd)) {
            *ret = t;
            return true;
        }
        close(t.fd); /* somebody who tidies up was there before the lock */
    }
    return false;
}

bool clv_temporary_file(int folder, const char *base, clv_temporary *ret)
{
    return make(folder, base, ANY_FILE, ret);
}

bool clv_temporary_folder(int folder, const char *base, clv_temporary *ret)
{
    return make(folder, base, ANY_FOLDER, ret);
}

bool clv_temporary_private(int folder, const char *base, clv_temporary *ret)
{
    return make(folder, base, PRIVATE_FOLDER, ret);
}

/* -- removing -- */

static DIR *open_list(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !dir)
        close(fd);
    return dir;
}

static void remove_tree(int folder, const char *name, int depth)
{
    DIR *dir;
    if (unlinkat(folder, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    if (depth < DEPTH_MAX && (dir = open_list(folder, name))) {
        for (struct dirent *e; (e = readdir(dir));)
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                remove_tree(dirfd(dir), e->d_name, depth + 1);
        closedir(dir);
    }
    (void)unlinkat(folder, name, AT_REMOVEDIR);
}

void clv_temporary_remove(int folder, clv_temporary *t)
{
    int error = errno;
    if (*t->name)
        remove_tree(folder, t->name, 0);
    if (t->fd >= 0)
        close(t->fd);
    *t = (clv_temporary){ .fd = -1 };
    errno = error;
}

/* A leftover of ours: it has our name and owner, and nobody holds it. */
static void sweep_one(int folder, const char *name, bool (*keep)(int folder))
{
    struct stat st;
    bool is_folder = is_folder_name(name);
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (is_folder ? O_DIRECTORY : 0);
    int fd = openat(folder, name, flags);
    if (fd < 0)
        return;
    bool ours = fstat(fd, &st) == 0 && (is_folder || S_ISREG(st.st_mode)) &&
                st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (ours && is_still(folder, name, fd) && !keep(folder))
        remove_tree(folder, name, 0);
    close(fd);
}

void clv_temporaries_sweep(int folder, bool (*keep)(int folder))
{
    DIR *dir = open_list(folder, ".");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (clv_is_temporary_name(e->d_name))
            sweep_one(folder, e->d_name, keep);
    if (dir)
        closedir(dir);
}
