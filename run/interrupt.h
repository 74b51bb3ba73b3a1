/* interrupt.h - signals that end the process, and what has to go when it ends, however it does.
 *
 * What a signal has to clean up cannot be handed to it, so it is global, and so is the signal that
 * came.
 */
#ifndef CLV_RUN_INTERRUPT_H
#define CLV_RUN_INTERRUPT_H

#include <stdbool.h>

#include "base/arena.h"

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the process at once, by a thread that waits
 * for them; to be called before any other thread is started. */
void clr_signals_watch(void);
/* Did a signal come? */
bool clr_interrupted(void);

/* A new folder below TMPDIR, from which what killed runs left goes first. One at a time. It and the
 * files in it go with clr_temporary_remove(), or when a signal ends the process. CLV_EIO. */
clv_status clr_temporary_make(clv_arena *arena, const char **ret, clv_error *err);
void clr_temporary_remove(void);

/* From the first to the second, by one thread at a time, a file is written that a stop must not
 * leave half there: the writer asks clr_interrupted() now and then, and the second is where a stop
 * ends the process. It takes a third signal to leave the file. A stream is not waited for. */
void clr_interrupt_defer(const char *path);
void clr_interrupt_allow(void);

#endif
