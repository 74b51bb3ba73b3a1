#include "base/open_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX                                                                                  \
    64               /* folders in each other below the first; each is a descriptor for a moment   \
                      */
#define LINKS_MAX 40 /* on one way, as in the kernel */
#define FOLDER    (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Where a walk is. Inside: at[0 .. n) are the folders below home, each in the one before. Outside,
 * where a link led: at[0] is the present one; it may come back, into home itself. */
typedef struct {
    int home;
    struct stat is;
    int at[DEPTH_MAX];
    int n;
    bool outside;
    int links;
    char rest[2 * PATH_MAX]; /* names that are still to be walked */
} walk;

static int here(const walk *w) { return w->n > 0 ? w->at[w->n - 1] : w->home; }

static void leave_all(walk *w)
{
    while (w->n > 0)
        close(w->at[--w->n]);
}

/* fd becomes the present folder; false: errno. */
static bool enter(walk *w, int fd)
{
    struct stat st;
    if (fd < 0)
        return false;
    if (!w->outside && w->n == DEPTH_MAX) {
        close(fd);
        errno = ENAMETOOLONG;
        return false;
    }
    if (w->outside) {
        leave_all(w);
        if (fstat(fd, &st) == 0 && st.st_dev == w->is.st_dev && st.st_ino == w->is.st_ino) {
            w->outside = false;
            close(fd);
            return true;
        }
    }
    w->at[w->n++] = fd;
    return true;
}

static bool go_up(walk *w)
{
    if (!w->outside && w->n > 0) {
        close(w->at[--w->n]);
        return true;
    }
    int fd = openat(here(w), "..", FOLDER);
    w->outside = true;
    return enter(w, fd);
}

/* The name is a link: what it says stands before the rest. False: errno, EINVAL for no link. */
static bool follow(walk *w, const char *name, const char *behind)
{
    char target[PATH_MAX], rest[sizeof w->rest];
    ssize_t n = readlinkat(here(w), name, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    int length = snprintf(rest, sizeof rest, "%s%s%s", target, *behind ? "/" : "", behind);
    if (++w->links > LINKS_MAX || length < 0 || (size_t)length >= sizeof rest) {
        errno = ELOOP;
        return false;
    }
    memcpy(w->rest, rest, (size_t)length + 1);
    if (*target != '/')
        return true;
    leave_all(w);
    w->outside = true;
    return enter(w, open("/", FOLDER));
}

/* Of what could not be entered or opened; errno says why. */
static clv_inside why(const walk *w)
{
    if (w->outside)
        return CLV_INSIDE_LEAVES;
    return errno == ENOENT || errno == ENOTDIR ? CLV_INSIDE_ABSENT : CLV_INSIDE_FAILED;
}

/* The last name of the way. *ret_again: it is a link, and the way is longer. */
static clv_inside open_last(walk *w, const char *name, int flags, bool *ret_again, int *ret_fd,
                            clv_file_id *ret_id)
{
    struct stat st;
    bool creates = (flags & O_CREAT) != 0;
    bool follows = (flags & O_ACCMODE) == O_RDONLY && !(flags & O_NOFOLLOW);
    int there = creates ? -1 : fstatat(here(w), name, &st, AT_SYMLINK_NOFOLLOW);
    if (!creates && there != 0)
        return why(w);
    if (there == 0 && S_ISLNK(st.st_mode) && follows) {
        *ret_again = follow(w, name, "");
        return *ret_again ? CLV_INSIDE_OPENED : why(w);
    }
    if (w->outside)
        return CLV_INSIDE_LEAVES;
    if (there == 0 && !S_ISREG(st.st_mode)) /* not opened at all: a device may do something then */
        return CLV_INSIDE_NOT_REGULAR;
    int fd = openat(here(w), name,
                    flags | (creates ? O_EXCL : 0) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0 && errno == ELOOP && follows) {
        *ret_again = follow(w, name, ""); /* a link came there just now */
        return *ret_again ? CLV_INSIDE_OPENED : why(w);
    }
    if (fd < 0)
        return why(w);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return CLV_INSIDE_NOT_REGULAR;
    }
    *ret_fd = fd;
    *ret_id = (clv_file_id){ st.st_dev, st.st_ino, st.st_size };
    return CLV_INSIDE_OPENED;
}

static clv_inside walk_to(walk *w, int flags, int *ret_fd, clv_file_id *ret_id)
{
    char name[NAME_MAX + 1], behind[sizeof w->rest];
    for (;;) {
        char *start = w->rest + strspn(w->rest, "/");
        size_t n = strcspn(start, "/");
        bool last = start[n] == '\0';
        if (n == 0) /* the way ended in a folder */
            return w->outside ? CLV_INSIDE_LEAVES : CLV_INSIDE_NOT_REGULAR;
        if (n > NAME_MAX) {
            errno = ENAMETOOLONG;
            return CLV_INSIDE_FAILED;
        }
        snprintf(name, sizeof name, "%.*s", (int)n, start);
        snprintf(behind, sizeof behind, "%s", start + n);
        memcpy(w->rest, behind, strlen(behind) + 1);
        bool ok = true, again = false;
        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0) {
            ok = go_up(w);
        } else if (last) {
            clv_inside found = open_last(w, name, flags, &again, ret_fd, ret_id);
            if (!again)
                return found;
        } else {
            ok = enter(w, openat(here(w), name, FOLDER));
            if (!ok && (errno == ENOTDIR || errno == ELOOP)) {
                ok = follow(w, name, behind);
                if (!ok && errno == EINVAL)
                    errno = ENOTDIR;
            }
        }
        if (!ok)
            return why(w);
    }
}

clv_inside clv_open_inside(int folder, const char *name, int flags, int *ret_fd,
                           clv_file_id *ret_id)
{
    walk w = { .home = folder };
    if (*name == '/')
        return CLV_INSIDE_LEAVES;
    if (strlen(name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return CLV_INSIDE_FAILED;
    }
    if (fstat(folder, &w.is) != 0)
        return CLV_INSIDE_FAILED;
    memcpy(w.rest, name, strlen(name) + 1);
    clv_inside found = walk_to(&w, flags, ret_fd, ret_id);
    int error = errno;
    leave_all(&w);
    errno = error;
    return found;
}

clv_status clv_open_inside_or_fail(const clv_file_inside *file, int *ret_fd, clv_file_id *ret_id,
                                   clv_error *err)
{
    const char *path = file->path;
    switch (clv_open_inside(file->folder, file->name, O_RDONLY, ret_fd, ret_id)) {
    case CLV_INSIDE_OPENED:
        return CLV_OK;
    case CLV_INSIDE_ABSENT:
        return clv_fail(err, CLV_EIO, "cannot open %s: %s", path, strerror(ENOENT));
    case CLV_INSIDE_LEAVES:
        return clv_fail(err, CLV_EFORMAT,
                        "%s is a link that leads out of the folder: expected a file in it", path);
    case CLV_INSIDE_NOT_REGULAR:
        return clv_fail(err, CLV_EIO, "%s is not a regular file", path);
    case CLV_INSIDE_FAILED:
        break;
    }
    return clv_fail(err, CLV_EIO, "cannot open %s: %s", path, strerror(errno));
}

int clv_open_folder(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

int clv_open_folder_of(const char *path, const char **ret_name)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    *ret_name = slash ? slash + 1 : path;
    if (n >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (n > 0) {
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    return clv_open_folder(folder);
}

/* Goes down the folders of a name, and makes them where it should; *ret_base: what is behind. */
static int go_down(int folder, const char *name, bool makes, const char **ret_base)
{
    int at = folder, error = *name == '/' ? EXDEV : 0;
    char part[NAME_MAX + 1];
    for (const char *slash; error == 0 && (slash = strchr(name, '/')); name = slash + 1) {
        size_t n = (size_t)(slash - name);
        int next = -1;
        if (n == 0)
            continue;
        snprintf(part, sizeof part, "%.*s", (int)(n > NAME_MAX ? NAME_MAX : n), name);
        if (n > NAME_MAX || strcmp(part, "..") == 0)
            error = n > NAME_MAX ? ENAMETOOLONG : EXDEV;
        else if (makes && mkdirat(at, part, 0777) != 0 && errno != EEXIST)
            error = errno;
        else if ((next = openat(at, part, FOLDER)) < 0)
            error = errno;
        if (at != folder)
            close(at);
        at = next;
    }
    if (error == 0 && (*name == '\0' || strcmp(name, "..") == 0)) {
        error = EXDEV;
        if (at != folder)
            close(at);
    }
    *ret_base = name;
    errno = error;
    return error ? -1 : at;
}

int clv_open_parent_inside(int folder, const char *name, const char **ret_base)
{
    return go_down(folder, name, false, ret_base);
}

int clv_make_folders_inside(int folder, const char *name)
{
    const char *base;
    int fd = go_down(folder, name, true, &base);
    if (fd >= 0 && fd != folder)
        close(fd);
    return fd >= 0 ? 0 : -1;
}

bool clv_is_same_file(int fd, const clv_file_id *id)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_dev == id->device && st.st_ino == id->number &&
           st.st_size == id->bytes;
}

bool clv_name_stays_inside(const char *name)
{
    if (*name == '\0' || *name == '/')
        return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t n = strcspn(part, "/");
        if (n == 2 && strncmp(part, "..", n) == 0)
            return false;
    }
    return true;
}
