/* signals.h - Ctrl-C ends the command at once, and leaves nothing behind. */
#ifndef CLV_CLI_SIGNALS_H
#define CLV_CLI_SIGNALS_H

#include "cli/cli.h"

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the command within a fifth of a second: by a
 * flag that the library is made to look at, or on the spot. A second signal does not wait. */
void cli_catch_signals(const cli *c);
/* While careful, the command owns files or processes that have to go first, so only the flag is
 * set; it takes a third signal to leave them. */
void cli_be_careful(bool yes);
/* Careful while this file is written, if it is one. */
void cli_be_careful_of(const char *path);
/* The same of the best solution so far: who has stopped the search waits for it, stream or not. */
void cli_be_careful_of_solution(const char *path);
/* This option's file is there: the message of a stop from now on says so. */
void cli_has_written(const cli *c, const char *option);
/* "nothing was written", or what was: the end of the sentence about a stop. */
const char *cli_outcome(void);
/* The work is done and saved: signals are the system's again, unless one came before, and then the
 * next ends the command. Whatever prints the answer calls it first. */
void cli_forget_signals(void);
/* The signal that came, or 0. */
int cli_signal(void);

#endif
