#include "compile/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "base/spawn.h"

/* One loop around poll(): both pipes, and the child itself as a pidfd where the kernel has them
 * (the tick finds its end otherwise). The child stays a zombie until the very end, so that its
 * number, which names the process group, cannot pass to a stranger before the group is killed.
 */
#define TERM_GRACE_MS 500  /* from SIGTERM to SIGKILL */
#define HOLD_GRACE_MS 1000 /* for the output to end once the command has */
#define FIRST_ROOM    4096

typedef struct {
    const clv_command *command;
    clv_arena *arena;
    clv_process_result *result;
    clv_guard guard;
    char **env; /* the command's, and the guard's mark */
    pid_t pid;
    int out, errors, pidfd; /* -1: closed */
    size_t room;
    bool exited, ending; /* ending: we are killing it */
    int64_t exited_at, kill_at;
    bool no_memory;
} child;

static int64_t now_ms(void) { return clv_now_ns() / CLV_NS_PER_MS; }

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A pipe whose ends lie above the standard descriptors, even where the host closed those. */
static bool make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool is_off = clv_spawn_keep_off_standard(&ends[0]);
    return clv_spawn_keep_off_standard(&ends[1]) && is_off &&
           fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

/* The environment of the command with room for the mark, in place of one that we got ourselves. */
static bool make_environment(child *c)
{
    static const char own[] = CLV_GUARD_VARIABLE "=";
    char *const *from = c->command->env;
    size_t n = 0, kept = 0;
    while (from[n])
        n++;
    c->env = CLV_NEW_ARRAY(c->arena, char *, n + 2);
    for (size_t k = 0; c->env && k < n; k++)
        if (strncmp(from[k], own, sizeof own - 1) != 0)
            c->env[kept++] = from[k];
    if (c->env)
        c->env[kept] = c->guard.mark;
    return c->env != NULL;
}

/* 0, or the errno of what failed. */
static int spawn_guarded(child *c, int out, int errors)
{
    char *argv[] = { "sh", "-c", (char *)c->command->command, NULL };
    clv_spawn spawn = { "/bin/sh", argv, c->env, c->command->folder, -1, out, errors };
    int e = clv_guard_start(&c->guard);
    if (e != 0)
        return e;
    e = clv_spawn_start(&spawn, &c->pid);
    if (e == 0)
        clv_guard_watch(&c->guard, c->pid);
    else
        clv_guard_end(&c->guard);
    return e;
}

/* 0, or the errno of what failed. */
static int start(child *c)
{
    int out[2] = { -1, -1 }, errors[2] = { -1, -1 };
    int e = !make_pipe(out) || !make_pipe(errors) ? errno : spawn_guarded(c, out[1], errors[1]);
    close_fd(&out[1]);
    close_fd(&errors[1]);
    if (e != 0) {
        close_fd(&out[0]);
        close_fd(&errors[0]);
        return e;
    }
    c->out = out[0];
    c->errors = errors[0];
#ifdef SYS_pidfd_open
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
#endif
    return 0;
}

static void terminate(child *c, clv_process_end why)
{
    if (c->ending)
        return;
    c->ending = true;
    c->result->end = why;
    c->kill_at = now_ms() + TERM_GRACE_MS;
    kill(-c->pid, SIGTERM);
}

static void keep_output(child *c, const char *bytes, size_t n)
{
    clv_process_result *result = c->result;
    if (c->ending)
        return;
    if (n > (size_t)c->command->max_output_bytes - result->n_output) {
        terminate(c, CLV_PROCESS_OUTPUT_TOO_LONG);
        return;
    }
    if (result->n_output + n + 1 > c->room) {
        size_t room =
            c->room * 2 > result->n_output + n + 1 ? c->room * 2 : result->n_output + n + 1;
        char *bigger = clv_arena_grow(c->arena, result->output, c->room, room, 1);
        if (!bigger) {
            c->no_memory = true;
            terminate(c, CLV_PROCESS_OUTPUT_TOO_LONG);
            return;
        }
        result->output = bigger;
        c->room = room;
    }
    memcpy(result->output + result->n_output, bytes, n);
    result->n_output += n;
    result->output[result->n_output] = '\0';
}

/* Only the last CLV_ERRORS_KEPT bytes stay. n is not above that. */
static void keep_errors(child *c, const char *bytes, size_t n)
{
    clv_process_result *result = c->result;
    if (result->n_errors + n > CLV_ERRORS_KEPT) {
        size_t drop = result->n_errors + n - CLV_ERRORS_KEPT;
        memmove(result->errors, result->errors + drop, result->n_errors - drop);
        result->n_errors -= drop;
    }
    memcpy(result->errors + result->n_errors, bytes, n);
    result->n_errors += n;
    result->errors[result->n_errors] = '\0';
}

/* One read a call: a command that never stops writing must not keep us from the clock. */
static void read_from(child *c, int *fd, void (*keep)(child *, const char *, size_t))
{
    char bytes[CLV_ERRORS_KEPT];
    ssize_t n = read(*fd, bytes, sizeof bytes);
    if (n > 0)
        keep(c, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(fd);
}

/* Sees whether the child has ended, and leaves it unreaped. */
static void check_exit(child *c)
{
    siginfo_t info = { 0 };
    if (c->exited)
        return;
    int e = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (e != 0 && errno == EINTR)
        return;
    if (e == 0 && info.si_pid == 0)
        return;
    c->exited = true;
    c->exited_at = now_ms();
    close_fd(&c->pidfd);
    if (c->ending)
        return;
    c->result->end = e != 0
                         ? CLV_PROCESS_LOST
                         : (info.si_code == CLD_EXITED ? CLV_PROCESS_EXITED : CLV_PROCESS_SIGNALED);
    c->result->code = e != 0 ? 0 : info.si_status;
}

static void poll_once(child *c, int64_t deadline)
{
    struct pollfd fds[] = { { c->out, POLLIN, 0 },
                            { c->errors, POLLIN, 0 },
                            { c->pidfd, POLLIN, 0 } };
    int64_t left = deadline - now_ms();
    int ms = left < 0 ? 0 : left < CLV_STOP_EVERY_MS ? (int)left : CLV_STOP_EVERY_MS;
    if (c->ending || c->exited)
        ms = CLV_STOP_EVERY_MS / 10;
    if (poll(fds, 3, ms) <= 0)
        return;
    if (fds[0].revents)
        read_from(c, &c->out, keep_output);
    if (fds[1].revents)
        read_from(c, &c->errors, keep_errors);
}

/* True: all is over. */
static bool is_over(child *c)
{
    if (!c->exited)
        return false;
    if (c->ending || (c->out < 0 && c->errors < 0))
        return true;
    if (now_ms() - c->exited_at < HOLD_GRACE_MS)
        return false;
    c->result->end = CLV_PROCESS_OUTPUT_HELD_OPEN;
    return true;
}

static void follow_to_end(child *c)
{
    int64_t deadline = now_ms() + c->command->timeout_ms;
    for (;;) {
        check_exit(c);
        if (is_over(c))
            return;
        poll_once(c, deadline);
        int64_t now = now_ms();
        if (c->command->stop && !c->ending && c->command->stop(c->command->stop_ctx))
            terminate(c, CLV_PROCESS_STOPPED);
        else if (now >= deadline && !c->exited)
            terminate(c, CLV_PROCESS_TIMED_OUT);
        if (c->ending && !c->exited && now >= c->kill_at)
            kill(-c->pid, SIGKILL);
    }
}

clv_status clv_process_run(const clv_command *command, clv_arena *arena, clv_process_result *ret,
                           clv_error *err)
{
    clv_process_result *result = ret;
    *result = (clv_process_result){ .output = clv_arena_take(arena, FIRST_ROOM) };
    child c = { .command = command,
                .arena = arena,
                .result = result,
                .room = FIRST_ROOM,
                .out = -1,
                .errors = -1,
                .pidfd = -1 };
    if (!result->output || !make_environment(&c))
        return clv_fail_nomem(err, "the compiler's answer");
    int e = start(&c);
    if (e != 0) {
        result->end = CLV_PROCESS_NOT_STARTED;
        result->code = e;
        return CLV_OK;
    }
    follow_to_end(&c);
    if (result->end != CLV_PROCESS_LOST)
        kill(-c.pid, SIGKILL); /* whoever it left behind in its group, and then elsewhere */
    clv_guard_end(&c.guard);
    while (waitpid(c.pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    close_fd(&c.out);
    close_fd(&c.errors);
    close_fd(&c.pidfd);
    return c.no_memory ? clv_fail_nomem(err, "the compiler's answer") : CLV_OK;
}

clv_str clv_process_last_error_line(const clv_process_result *result)
{
    size_t end = result->n_errors;
    while (end > 0 && isspace((unsigned char)result->errors[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && result->errors[start - 1] != '\n')
        start--;
    return (clv_str){ result->errors + start, (int32_t)(end - start) };
}
