/* child.h - processes that end when this one does. */
#ifndef CLV_RUN_CHILD_H
#define CLV_RUN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/* In a child just forked: from now on the signal comes when the parent ends, however it ends.
 * False: it has. */
bool clr_die_with_parent(pid_t parent, int signal);
/* sh -c COMMAND, both of whose streams are our standard error; *ret_wait_status is as of waitpid().
 * It gets SIGTERM when we end; whatever it has started is killed when it has ended or we have
 * (base/guard.h). To be called before any other thread is started. CLV_EIO: no process.
 */
clv_status clr_shell_run(const char *command, int *ret_wait_status, clv_error *err);

#endif
