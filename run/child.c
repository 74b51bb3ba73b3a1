#include "run/child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NO_SHELL 127 /* as system() has it */

bool clr_die_with_parent(pid_t parent, int signal)
{
    return prctl(PR_SET_PDEATHSIG, signal) == 0 && getppid() == parent;
}

clv_status clr_shell_run(const char *command, int *ret_wait_status, clv_error *err)
{
    pid_t parent = getpid(), pid = fork();

    if (pid < 0)
        return clv_fail(err, CLV_EIO, "no process: %s", strerror(errno));
    if (pid == 0) {
        if (clr_die_with_parent(parent, SIGTERM) && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(EXIT_NO_SHELL);
    }
    while (waitpid(pid, ret_wait_status, 0) < 0)
        if (errno != EINTR)
            return clv_fail(err, CLV_EIO, "no process: %s", strerror(errno));
    return CLV_OK;
}
