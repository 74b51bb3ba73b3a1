#include "run/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard.h"

#define EXIT_NO_SHELL 127 /* as system() has it */

bool clr_die_with_parent(pid_t parent, int signal)
{
    return prctl(PR_SET_PDEATHSIG, signal) == 0 && getppid() == parent;
}

clv_status clr_shell_run(const char *command, int *ret_wait_status, clv_error *err)
{
    clv_guard guard;
    int e = clv_guard_start(&guard);
    pid_t parent = getpid(), pid = e == 0 ? fork() : -1;

    if (e != 0)
        return clv_fail(err, CLV_EIO, "no process: %s", strerror(e));
    if (pid < 0) {
        e = errno;
        clv_guard_end(&guard);
        return clv_fail(err, CLV_EIO, "no process: %s", strerror(e));
    }
    if (pid == 0) {
        if (clr_die_with_parent(parent, SIGTERM) && putenv(guard.mark) == 0 &&
            dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(EXIT_NO_SHELL);
    }
    while (waitpid(pid, ret_wait_status, 0) < 0 && (e = errno) == EINTR)
        e = 0;
    clv_guard_end(&guard);
    return e == 0 ? CLV_OK : clv_fail(err, CLV_EIO, "no process: %s", strerror(e));
}
