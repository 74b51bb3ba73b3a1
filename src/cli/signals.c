/* signals.c - Ctrl-C ends the command at once, and leaves nothing behind.
 *
 * A handler can do little safely. The first signal sets a flag that the library's callbacks look
 * at, and starts a clock: if the command still runs when it ends, and has no file or process of its
 * own lying about, it is ended on the spot. The flag and its companions are the only global
 * variables of the program; a handler has no other way to speak.
 */
#include "cli/signals.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/streams.h"

#define GRACE_NS 120000000 /* for the library to stop between two steps */

static volatile sig_atomic_t came, times, careful;
static bool armed;     /* is there a clock? */
static bool forgotten; /* since signals were last caught */
static timer_t grace;
static char outcome[64] = "nothing was written"; /* the end of all words about a stop */
static char stop_message[160], stop_json[256];   /* "" where none is wanted */

static void write_text(int fd, const char *text)
{
    ssize_t unused = write(fd, text, strlen(text));
    (void)unused; /* a closed stream gets nothing */
}

static void on_signal(int number)
{
    struct itimerspec soon = { .it_value.tv_nsec = GRACE_NS };

    times = times + 1;
    if (times > (careful ? 2 : 1))
        _exit(128 + number);
    if (times > 1)
        return;
    came = number;
    if (armed)
        timer_settime(grace, 0, &soon, NULL);
}

static void on_clock(int number)
{
    (void)number;
    if (careful || !came)
        return;
    write_text(STDERR_FILENO, stop_message);
    write_text(STDOUT_FILENO, stop_json);
    _exit(128 + came);
}

/* A signal that is ignored from the start stays so: nohup, and background jobs of a script. */
static void catch_signal(int number, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static void make_stop_message(const cli *c)
{
    char words[64 + sizeof outcome];

    snprintf(words, sizeof words, "stopped by a signal; %s", outcome);
    snprintf(stop_message, sizeof stop_message, "%scleave: %s\n",
             isatty(STDERR_FILENO) ? "\r\033[K" : "", words);
    if (c->json)
        snprintf(
            stop_json, sizeof stop_json,
            "{\n  \"error\": {\n    \"code\": \"canceled\",\n    \"message\": \"%s\"\n  }\n}\n",
            words);
}

void cli_catch_signals(const cli *c)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };

    make_stop_message(c);
    forgotten = false;
    armed = timer_create(CLOCK_MONOTONIC, &event, &grace) == 0;
    catch_signal(SIGALRM, on_clock);
    catch_signal(SIGINT, on_signal);
    catch_signal(SIGTERM, on_signal);
    catch_signal(SIGHUP, on_signal);
    catch_signal(SIGQUIT, on_signal);
    catch_signal(SIGXCPU, on_signal);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write() */
}

void cli_be_careful(bool yes) { careful = yes; }

void cli_be_careful_of(const char *path) { careful = !clv_is_stream(path); }

void cli_be_careful_of_solution(const char *path) { careful = came || !clv_is_stream(path); }

void cli_has_written(const cli *c, const char *option)
{
    sig_atomic_t was = careful;

    careful = true; /* no stop_message while it changes */
    snprintf(outcome, sizeof outcome, "nothing but the file of %s was written", option);
    make_stop_message(c);
    careful = was;
}

const char *cli_outcome(void) { return outcome; }

static void forget(int number)
{
    struct sigaction action;

    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == on_signal)
        signal(number, SIG_DFL);
}

void cli_forget_signals(void)
{
    careful = false;
    if (forgotten) /* an answer may be printed in many pieces */
        return;
    forgotten = true;
    signal(SIGALRM, SIG_IGN); /* what is printed now is the answer; no stop_message may follow it */
    if (came) /* the command ends by it already: a second one must not change the exit code */
        return;
    forget(SIGINT);
    forget(SIGTERM);
    forget(SIGHUP);
    forget(SIGQUIT);
    forget(SIGXCPU);
}

int cli_signal(void) { return came; }
