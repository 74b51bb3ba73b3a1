/* guard.h - ends all that a command has started, when the command has ended, and when this process
 * has, however it does: SIGKILL too.
 *
 *     clv_guard guard;
 *     clv_guard_start(&guard);          // a small process of its own
 *     ... start the command with guard.mark in its environment ...
 *     clv_guard_watch(&guard, group);   // the command's process group
 *     ... the command has ended, or is to ...
 *     clv_guard_end(&guard);            // and then it is reaped
 *
 * Processes that left the command's group (setsid, double fork) are found by the mark, which they
 * inherit in their environment; the guard looks for it in /proc. So a process escapes that starts a
 * program with another environment after it left the group, or belongs to another user.
 * docs/decisions/0002-external-compiler.md says why it is done so.
 */
#ifndef CLV_BASE_GUARD_H
#define CLV_BASE_GUARD_H

#include <sys/types.h>

#define CLV_GUARD_VARIABLE "CLEAVE_CALL"
#define CLV_GUARD_MARK     64

typedef struct {
    char mark[CLV_GUARD_MARK]; /* "CLEAVE_CALL=...": like no other */
    int fd;                    /* to the guard, whose input ends when we do */
    pid_t pid;
} clv_guard;

/* 0, or the errno of what failed; then there is no guard, and it must not be ended. */
int clv_guard_start(clv_guard *ret);
/* Should we end before clv_guard_end(), that group is killed too. A command may have none. */
void clv_guard_watch(const clv_guard *guard, pid_t group);
/* Kills the marked processes and waits until that is done: some milliseconds, as long as it takes
 * to read /proc. The group is the caller's to kill, who knows whether its number is still its own.
 */
void clv_guard_end(clv_guard *guard);

#endif
