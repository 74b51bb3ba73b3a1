#include "run/cmd_batch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/batch_entry.h"
#include "run/child.h"

/* Entries are run by children, for the runtime may crash in one. Child j of n has entries j, j + n,
 * ... and writes a line for each; where it ends too early, the entry it was at is lost, and another
 * child goes on behind it. The parent never loads the runtime, and prints in the order of the list.
 */

enum { JOBS, THREADS, TIMEOUT, COMMON, N_OPTIONS = COMMON + 3 };

static const cli_option options[N_OPTIONS] = {
    [JOBS] = { .name = "--jobs",
               .kind = CLI_INT,
               .value = "N",
               .help = "processes; 1",
               .min = 1,
               .max = 1024 },
    [THREADS] = { .name = "--threads",
                  .kind = CLI_INT,
                  .value = "N",
                  .help = "of one operator; 1",
                  .min = 1,
                  .max = 1024 },
    [TIMEOUT] = { .name = "--timeout",
                  .kind = CLI_SECONDS,
                  .value = "S",
                  .help = "the longest that an entry may take; no limit" },
    RUN_COMMON_OPTIONS,
};

#define LINE_MAX_BYTES 16384 /* a line is a few sentences and paths */

typedef struct {
    pid_t pid; /* 0: none */
    int fd;
    int32_t at; /* entry whose line comes next */
    int64_t started_ns;
    bool late; /* killed for taking too long */
    char line[LINE_MAX_BYTES];
    size_t n;
} child;

typedef struct {
    clr_cli *c;
    const clr_batch_entry *entries;
    int32_t n;
    const char **lines; /* of each entry, NULL as long as there is none */
    int32_t printed;
    int jobs, threads;
    double timeout_s;
    child *children;
    int64_t equal, differs, unsupported, failed;
    int print_code; /* RUN_OK, or the exit code where a line could not be printed */
} batch;

/* -- a child -- */

static bool write_all(int fd, const char *text)
{
    size_t n = strlen(text);

    while (n) {
        ssize_t done = write(fd, text, n);
        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            text += done;
            n -= (size_t)done;
        }
    }
    return true;
}

/* Ends the process: there is nothing of the parent's to free. */
static _Noreturn void run_child(const batch *b, pid_t parent, int32_t at, int fd)
{
    clr_ort ort = { 0 };
    clv_error err;

    if (!clr_die_with_parent(parent, SIGKILL) || clr_ort_open(&ort, &err) != CLV_OK)
        _exit(RUN_FAULT);
    for (; at < b->n; at += b->jobs) {
        const char *line = NULL;
        clv_arena *arena = clv_arena_new(NULL, 0);
        if (!arena ||
            clr_batch_entry_run(&ort, &b->entries[at], b->threads, arena, &line, &err) != CLV_OK)
            _exit(RUN_FAULT);
        if (!write_all(fd, line))
            _exit(RUN_IO);
        clv_arena_free(arena);
    }
    _exit(RUN_OK);
}

static clv_status start_child(batch *b, child *k, int32_t at, clv_error *err)
{
    int pipes[2];
    pid_t parent = getpid();

    *k = (child){ .at = at, .fd = -1 };
    if (at >= b->n)
        return CLV_OK;
    if (pipe(pipes) != 0)
        return clv_fail(err, CLV_EIO, "no pipe: %s", strerror(errno));
    fflush(NULL);
    k->pid = fork();
    if (k->pid == 0) {
        close(pipes[0]);
        run_child(b, parent, at, pipes[1]);
    }
    close(pipes[1]);
    k->fd = pipes[0];
    k->started_ns = clv_now_ns();
    return k->pid > 0 ? CLV_OK : clv_fail(err, CLV_EIO, "no process: %s", strerror(errno));
}

/* -- the parent -- */

static bool has_outcome(const char *line, const char *outcome)
{
    char compact[64], spaced[64];

    snprintf(compact, sizeof compact, "\"outcome\":\"%s\"", outcome);
    snprintf(spaced, sizeof spaced, "\"outcome\": \"%s\"", outcome);
    return strstr(line, compact) || strstr(line, spaced);
}

/* line: of that entry; NULL without memory. Prints all lines that no earlier one is missing for. */
static clv_status add_line(batch *b, int32_t at, const char *line, clv_error *err)
{
    b->lines[at] = line;
    if (!line)
        return clv_fail_nomem(err, "a line");
    if (has_outcome(line, "equal"))
        b->equal++;
    else if (has_outcome(line, "differs"))
        b->differs++;
    else if (has_outcome(line, "unsupported"))
        b->unsupported++;
    else
        b->failed++;
    for (; b->printed < b->n && b->lines[b->printed]; b->printed++)
        if ((b->print_code = clr_print(b->lines[b->printed])) != RUN_OK)
            return clv_fail(err, CLV_EIO, "standard output cannot be written");
    return CLV_OK;
}

/* The child has ended: at its last entry, or too early; then another goes on behind the entry. */
static clv_status replace_child(batch *b, child *k, clv_error *err)
{
    int how = 0;
    char reason[80];

    close(k->fd);
    while (waitpid(k->pid, &how, 0) < 0 && errno == EINTR)
        continue;
    k->pid = 0;
    if (k->at >= b->n)
        return CLV_OK;
    if (k->late)
        snprintf(reason, sizeof reason, "it took longer than %g s", b->timeout_s);
    else if (WIFSIGNALED(how))
        snprintf(reason, sizeof reason, "the runtime crashed by signal %d (%s)", WTERMSIG(how),
                 strsignal(WTERMSIG(how)));
    else
        snprintf(reason, sizeof reason, "the runtime ended the process with code %d",
                 WEXITSTATUS(how));
    const char *line = clr_batch_entry_lost(&b->entries[k->at], k->late ? "timeout" : "crashed",
                                            reason, b->c->arena);
    CLV_TRY(add_line(b, k->at, line, err));
    return start_child(b, k, k->at + b->jobs, err);
}

static clv_status read_child(batch *b, child *k, clv_error *err)
{
    ssize_t got = read(k->fd, k->line + k->n, sizeof k->line - k->n);
    char *end;

    if (got < 0 && errno == EINTR)
        return CLV_OK;
    if (got <= 0)
        return replace_child(b, k, err);
    k->n += (size_t)got;
    while ((end = memchr(k->line, '\n', k->n))) {
        size_t length = (size_t)(end - k->line) + 1;
        const char *line = clv_arena_printf(b->c->arena, "%.*s", (int)length, k->line);
        CLV_TRY(add_line(b, k->at, line, err));
        k->n -= length;
        memmove(k->line, k->line + length, k->n);
        k->at += b->jobs;
        k->started_ns = clv_now_ns();
    }
    if (k->n == sizeof k->line)
        return clv_fail(err, CLV_EINTERNAL, "a line is longer than %d bytes", LINE_MAX_BYTES);
    return CLV_OK;
}

#define DEADLINE_CHECK_MS 100

static clv_status poll_children(batch *b, struct pollfd *fds, bool *ret_any, clv_error *err)
{
    *ret_any = false;
    for (int j = 0; j < b->jobs; j++) {
        fds[j] =
            (struct pollfd){ .fd = b->children[j].pid ? b->children[j].fd : -1, .events = POLLIN };
        *ret_any = *ret_any || b->children[j].pid;
    }
    if (!*ret_any)
        return CLV_OK;
    if (poll(fds, (nfds_t)b->jobs, b->timeout_s > 0 ? DEADLINE_CHECK_MS : -1) < 0 && errno != EINTR)
        return clv_fail(err, CLV_EIO, "poll: %s", strerror(errno));
    for (int j = 0; j < b->jobs; j++)
        if (fds[j].fd >= 0 && fds[j].revents)
            CLV_TRY(read_child(b, &b->children[j], err));
    for (int j = 0; j < b->jobs && b->timeout_s > 0; j++) {
        child *k = &b->children[j];
        if (k->pid && !k->late && clv_seconds_since(k->started_ns) > b->timeout_s) {
            k->late = true;
            kill(k->pid, SIGKILL);
        }
    }
    return CLV_OK;
}

static clv_status run_all(batch *b, clv_error *err)
{
    struct pollfd *fds = CLV_NEW_ARRAY(b->c->arena, struct pollfd, b->jobs);
    bool any = true;

    b->children = CLV_NEW_ARRAY(b->c->arena, child, b->jobs);
    b->lines = CLV_NEW_ARRAY(b->c->arena, const char *, b->n);
    if (!fds || !b->children || !b->lines)
        return clv_fail_nomem(err, "the list");
    for (int j = 0; j < b->jobs; j++)
        CLV_TRY(start_child(b, &b->children[j], j, err));
    while (any)
        CLV_TRY(poll_children(b, fds, &any, err));
    return CLV_OK;
}

static int run(clr_cli *c, const cli_args *args)
{
    const cli_value *v = args->values;
    batch b = { .c = c,
                .jobs = v[JOBS].by ? (int)v[JOBS].number : 1,
                .threads = v[THREADS].by ? (int)v[THREADS].number : 1,
                .timeout_s = v[TIMEOUT].seconds };
    clr_batch_entry *entries = NULL;
    clv_error err;

    if (args->n_operands != 1)
        return clr_print_usage_error(c, args->n_operands ? "one list is expected"
                                                         : "no list is given");
    clv_status status = clr_batch_list_read(args->operands[0], c->arena, &entries, &b.n, &err);
    b.entries = entries;
    if (status == CLV_OK)
        status = run_all(&b, &err);
    if (b.print_code != RUN_OK)
        return b.print_code;
    if (status != CLV_OK)
        return clr_print_error(c, &err);
    if (!c->quiet)
        fprintf(stderr,
                "%d entries: %lld equal, %lld differ, %lld unsupported by the runtime, %lld "
                "failed\n",
                (int)b.n, (long long)b.equal, (long long)b.differs, (long long)b.unsupported,
                (long long)b.failed);
    return b.differs || b.failed ? RUN_DIFFERS : RUN_OK;
}

const clr_command clr_cmd_batch = {
    .name = "batch",
    .operands = "LIST",
    .summary = "Run many models and compare their outputs with expected ones",
    .details = "LIST has a JSON object in each line: \"model\", a file or a lowered folder; "
               "\"inputs\" and \"outputs\", objects of names and files, or \"data\", a folder of "
               "input_N.pb and output_N.pb; \"rtol\" (0.001), \"atol\" (1e-7), \"id\". A line is "
               "printed for each. Exit code 3: something differs or failed.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
