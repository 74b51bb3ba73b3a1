/* spawn.h - starts a program as a process group of its own, for hosts of any kind: their
 * descriptors, signal mask and handlers are not handed on, and stay as they are. (Without
 * glibc 2.34 a descriptor that the host opened without O_CLOEXEC is handed on.) */
#ifndef CLV_BASE_SPAWN_H
#define CLV_BASE_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    const char *program;
    char *const *argv, *const *env; /* NULL-terminated */
    const char *folder;             /* working directory */
    int in, out, errors;            /* -1: /dev/null */
} clv_spawn;

/* 0, or the errno of what failed. The caller waits for the process. */
int clv_spawn_start(const clv_spawn *spawn, pid_t *ret);

/* The descriptor above the three standard ones, even where the host closed those; closed in
 * programs that are started. *fd is closed, or gets -1 with errno. */
bool clv_spawn_keep_off_standard(int *fd);

#endif
