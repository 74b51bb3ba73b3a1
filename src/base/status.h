/* status.h - how every fallible function reports failure.
 *
 * A fallible function returns a clv_status and takes a clv_error last. The code is for programs
 * (exit codes, bindings); the message is for people: one sentence that names the thing, the value
 * and what was expected. Whoever first sees the fault writes the message; callers above pass both
 * upward untouched. A caller that does not want the words passes NULL. On failure a function
 * leaves its results as they were.
 *
 * Outcomes are not errors: "no plan fits" and "this candidate ran out of memory" live in results.
 * A broken precondition is a bug, and asserts.
 */
#ifndef CLV_BASE_STATUS_H
#define CLV_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#include "base/target.h"

typedef enum {
    CLV_OK,
    CLV_EUSAGE,    /* the request itself is wrong */
    CLV_EFORMAT,   /* the input is not a valid model, plan or description */
    CLV_EUNSUPP,   /* valid, but uses something not supported here */
    CLV_ELIMIT,    /* the input exceeds a limit */
    CLV_EIO,       /* could not read or write */
    CLV_ENOMEM,    /* out of memory */
    CLV_ECANCELED, /* stopped because the caller asked for it */
    CLV_ESOLVER,   /* a solver library gave up */
    CLV_EINTERNAL  /* a fault of this program */
} clv_status;

#define CLV_MESSAGE_SIZE 512

typedef struct {
    clv_status status;
    char message[CLV_MESSAGE_SIZE]; /* one sentence, no trailing newline */
} clv_error;

#if defined(__GNUC__)
#define CLV_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define CLV_CHECKED            __attribute__((warn_unused_result))
#else
#define CLV_PRINTF(fmt, first)
#define CLV_CHECKED
#endif

/* Fills *err, if there is one, and returns status: `return clv_fail(...);` */
clv_status clv_fail(clv_error *err, clv_status status, const char *fmt, ...) CLV_PRINTF(3, 4);

/* vsnprintf for one sentence: what does not fit ends in "...", and what would disturb a terminal is
 * replaced as show.h has it. */
void clv_words(char *buf, size_t size, const char *fmt, va_list args) CLV_PRINTF(3, 0);

/* Adds to the n bytes that buf has. Returns how many there are now: size or above where they did
 * not fit, then they end in "...", and nothing is added any more. Control characters stay. */
size_t clv_add_words(char *buf, size_t size, size_t n, const char *fmt, ...) CLV_PRINTF(4, 5);

/* "out of memory" in the words every caller would use. */
clv_status clv_fail_nomem(clv_error *err, const char *what);

/* Passes a failure up. Only where this function holds nothing to release. */
#define CLV_TRY(call)                                                                              \
    do {                                                                                           \
        clv_status try_ = (call);                                                                  \
        if (try_ != CLV_OK)                                                                        \
            return try_;                                                                           \
    } while (0)

#endif
