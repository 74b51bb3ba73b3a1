#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#define LOWEST_FD 3

static int set_stream(posix_spawn_file_actions_t *actions, int fd, int as)
{
    if (fd >= 0)
        return posix_spawn_file_actions_adddup2(actions, fd, as);
    return posix_spawn_file_actions_addopen(actions, as, "/dev/null",
                                            as == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
}

static int set_actions(posix_spawn_file_actions_t *actions, const clv_spawn *s)
{
    int e = set_stream(actions, s->in, STDIN_FILENO);
    if (e == 0)
        e = set_stream(actions, s->out, STDOUT_FILENO);
    if (e == 0)
        e = set_stream(actions, s->errors, STDERR_FILENO);
    if (e == 0)
        e = posix_spawn_file_actions_addchdir_np(actions, s->folder);
#ifdef __GLIBC_PREREQ /* other libraries of C have neither this nor that */
#if __GLIBC_PREREQ(2, 34)
    if (e == 0)
        e = posix_spawn_file_actions_addclosefrom_np(actions, LOWEST_FD);
#endif
#endif
    return e;
}

static int set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int e = posix_spawnattr_setpgroup(attr, 0);
    if (e == 0)
        e = posix_spawnattr_setsigmask(attr, &none);
    if (e == 0)
        e = posix_spawnattr_setsigdefault(attr, &all);
    if (e == 0)
        e = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
    return e;
}

int clv_spawn_start(const clv_spawn *spawn, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int e = posix_spawn_file_actions_init(&actions);
    if (e != 0)
        return e;
    if ((e = posix_spawnattr_init(&attr)) == 0) {
        if ((e = set_actions(&actions, spawn)) == 0 && (e = set_attributes(&attr)) == 0)
            e = posix_spawn(ret, spawn->program, &actions, &attr, spawn->argv, spawn->env);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return e;
}

bool clv_spawn_keep_off_standard(int *fd)
{
    int low = *fd;
    *fd = fcntl(low, F_DUPFD_CLOEXEC, LOWEST_FD);
    close(low);
    return *fd >= 0;
}
