/* copies.h - copies of a program: the whole of it several times, each on devices of its own, with
 * sessions of its own (docs/lowering.md). They run side by side.
 */
#ifndef CLV_RUN_COPIES_H
#define CLV_RUN_COPIES_H

#include "run/execution.h"

typedef struct {
    clr_execution *at;
    int32_t n;
} clr_copies;

/* How something on one copy ended. */
typedef struct {
    clv_status status;
    clv_error error;
} clr_copy_end;

/* Opens the first n copies of a program, one after the other, so that the memory of each is seen;
 * cores are shared out among them, and only the first writes profiles. A program of paths has one.
 * All arguments outlive it. The result is to be closed in any case. As clr_execution_open(). */
clv_status clr_copies_open(const clr_ort *ort, clr_program *program,
                           const clr_execution_options *options, clv_arena *arena, clr_copies *io,
                           clv_error *err);
void clr_copies_close(clr_copies *copies); /* zeroed is fine */

/* The most that the process has held so far, 0: not known. From one thread. O(copies). */
int64_t clr_copies_peak_bytes(clr_copies *copies);

/* So many runs, at least 1, dealt out to the copies in turn: those of a copy go one behind the
 * other (clr_execution_run_pipelined), those of several side by side. inputs: of each copy, a value
 * for each input of the program. ret_end_s: when each ended, rising, in seconds from the start. The
 * failure of the lowest copy that has one. */
clv_status clr_copies_run_pipelined(clr_copies *copies, OrtValue *const *const *inputs,
                                    int32_t runs, double *ret_end_s, clv_error *err);
/* How many of so many runs copy c has. O(1). */
int32_t clr_copies_share(const clr_copies *copies, int32_t c, int32_t runs);

#endif
