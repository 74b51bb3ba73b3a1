#include "run/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open_inside.h"
#include "base/rename_unit.h"
#include "base/streams.h"
#include "base/temporary.h"

/* Who makes or removes a file that a stop must not leave has the lock. A signal that finds it free
 * ends the process; one that does not is found by release().
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static clv_temporary temporary = { .fd = -1 };
static int parent = -1;              /* the folder that it is in */
static atomic_int came;              /* a signal, or 0 */
static _Thread_local bool deferring; /* has this thread the lock for a file that it writes? */

/* With the lock held. */
static void remove_temporary(void)
{
    clv_temporary_remove(parent, &temporary);
    if (parent >= 0)
        close(parent);
    parent = -1;
}

/* With the lock held, for ever. */
static _Noreturn void end_process(void)
{
    static const char words[] = "cleave-run: stopped by a signal\n";

    remove_temporary();
    ssize_t unused = write(STDERR_FILENO, words, sizeof words - 1);
    (void)unused;
    _exit(128 + came);
}

static void release(void)
{
    pthread_mutex_unlock(&lock);
    if (!came)
        return;
    pthread_mutex_lock(&lock);
    end_process();
}

clv_status clr_temporary_make(clv_arena *arena, const char **ret, clv_error *err)
{
    const char *given = getenv("TMPDIR"), *base = given && *given ? given : "/tmp";

    pthread_mutex_lock(&lock);
    parent = clv_open_folder(base);
    if (parent >= 0)
        clv_tidy_folder(parent);
    bool made = parent >= 0 && clv_temporary_private(parent, "cleave-run", &temporary);
    int fault = errno;
    *ret = clv_arena_printf(arena, "%s/%s", base, temporary.name);
    release();
    if (!made)
        return clv_fail(err, CLV_EIO, "cannot make a folder in %s: %s", base, strerror(fault));
    return *ret ? CLV_OK : clv_fail_nomem(err, "a path");
}

void clr_temporary_remove(void)
{
    pthread_mutex_lock(&lock);
    remove_temporary();
    release();
}

void clr_interrupt_defer(const char *path)
{
    deferring = !clv_is_stream(path);
    if (deferring)
        pthread_mutex_lock(&lock);
}

void clr_interrupt_allow(void)
{
    if (deferring)
        release();
    deferring = false;
}

bool clr_interrupted(void) { return came != 0; }

static void *wait_for_signal(void *signals)
{
    for (int times = 0, number;;) {
        if (sigwait(signals, &number) != 0)
            continue;
        if (times++ == 0)
            came = number;
        if (pthread_mutex_trylock(&lock) == 0)
            end_process();
        if (times > 2)
            _exit(128 + number);
    }
    return NULL;
}

void clr_signals_watch(void)
{
    static sigset_t signals; /* of the thread, for as long as the process lives */
    const int ours[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    pthread_t thread;

    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        struct sigaction action;
        /* one that is ignored from the start stays so: nohup */
        if (sigaction(ours[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&signals, ours[i]);
    }
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (pthread_create(&thread, NULL, wait_for_signal, &signals) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}
