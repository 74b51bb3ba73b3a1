#include "base/guard.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"

/* It waits for the word "end", or for our end, and then has the group to kill as well. New
 * processes may be forked while it looks, so it looks until there is none; some that cannot be
 * killed are left to the system. Its own environment is without a mark, so that a guard of a
 * program that another guard ends does its work.
 */
#define ROUNDS "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"

static const char script[] =
    "trap '' HUP INT QUIT TERM\n"
    "while read -r word number; do\n"
    "  group=$number\n"
    "  [ \"$word\" != end ] || break\n"
    "done\n"
    "[ -z \"$group\" ] || kill -KILL \"-$group\"\n"
    "for round in " ROUNDS "; do\n"
    "  found=$(grep -ls \"$1\" /proc/[0-9]*/environ)\n"
    "  [ -n \"$found\" ] || exit 0\n"
    "  for at in $found; do at=${at#/proc/}; kill -KILL \"${at%/environ}\"; done\n"
    "done\n";

static int make_mark(char mark[static CLV_GUARD_MARK])
{
    uint64_t r[2];
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
        return errno;
    snprintf(mark, CLV_GUARD_MARK, "%s=%016llx%016llx", CLV_GUARD_VARIABLE,
             (unsigned long long)r[0], (unsigned long long)r[1]);
    return 0;
}

int clv_guard_start(clv_guard *ret)
{
    clv_guard guard = { .fd = -1, .pid = -1 };
    int ends[2] = { -1, -1 }, e = make_mark(guard.mark);
    char *argv[] = { "sh", "-c", (char *)script, "cleave-guard", guard.mark, NULL };
    char *env[] = { "PATH=/usr/bin:/bin", NULL };
    if (e != 0)
        return e;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    for (int k = 0; k < 2; k++)
        if (!clv_spawn_keep_off_standard(&ends[k]))
            e = errno;
    if (e == 0)
        e = clv_spawn_start(&(clv_spawn){ "/bin/sh", argv, env, "/", ends[1], -1, -1 }, &guard.pid);
    if (ends[1] >= 0)
        close(ends[1]);
    if (e != 0 && ends[0] >= 0)
        close(ends[0]);
    if (e != 0)
        return e;
    guard.fd = ends[0];
    *ret = guard;
    return 0;
}

/* Without SIGPIPE, should somebody have killed it. */
static void send_line(const clv_guard *guard, const char *line)
{
    while (send(guard->fd, line, strlen(line), MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

void clv_guard_watch(const clv_guard *guard, pid_t group)
{
    char line[32];
    snprintf(line, sizeof line, "group %lld\n", (long long)group);
    send_line(guard, line);
}

/* A line, for a fork of the host may hold its end of the pair open. */
void clv_guard_end(clv_guard *guard)
{
    send_line(guard, "end\n");
    close(guard->fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
