#include "cli/cli.h"

#include <signal.h>
#include <unistd.h>

/* A handler can do little safely: the first signal only sets the flag that the progress callback
 * looks at, so that the library stops between two steps and no half-written file stays. The flag is
 * the one global variable of the program; a handler has no other way to speak.
 */

static volatile sig_atomic_t came;

static void on_signal(int number)
{
    if (came)
        _exit(128 + number);
    came = number;
}

/* A signal that is ignored from the start stays so: nohup, and background jobs of a script. */
static void catch_signal(int number)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, old;

    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void cli_catch_signals(void)
{
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
    /* A reader of our output that goes away is seen as a failed write, not as a death that could
     * come while a model is being saved. */
    signal(SIGPIPE, SIG_IGN);
}

int cli_signal(void) { return came; }
