/* glpk_fence.c - hooks for the length of one call.
 *
 * The terminal hook swallows what GLPK says and keeps its last words; the error hook leaves by
 * longjmp, which GLPK asks for. After that its environment is broken, so it is freed whole.
 */
#include "solver/common/ilp/glpk_fence.h"

#if defined(CLEAVE_GLPK)

#include <glpk.h>
#include <setjmp.h>
#include <stddef.h>

#define WORDS_SIZE 256

typedef struct {
    jmp_buf escape;
    size_t n;
    char words[WORDS_SIZE]; /* starts zeroed, so it is always a string */
} fence;

static int keep_words(void *info, const char *text)
{
    fence *f = info;
    for (; glp_at_error() && *text && f->n + 1 < WORDS_SIZE; text++)
        f->words[f->n++] = *text == '\n' ? ' ' : *text;
    return 1; /* GLPK need not print it */
}

static void jump_out(void *info) { longjmp(((fence *)info)->escape, 1); }

/* In a function of its own: whatever it changed in its own locals would be lost by the jump. */
static clv_status run_inside(fence *f, clv_status (*body)(void *, clv_error *), void *arg,
                             clv_error *err)
{
    if (setjmp(f->escape) != 0)
        return clv_fail(err, CLV_ESOLVER, "GLPK gave up: %s", f->words);
    glp_term_hook(keep_words, f);
    glp_error_hook(jump_out, f);
    return body(arg, err);
}

clv_status clv_glpk_run(clv_status (*body)(void *, clv_error *), void *arg, clv_error *err)
{
    fence f = { .n = 0 };
    clv_status status = run_inside(&f, body, arg, err);
    glp_free_env(); /* every problem, and the hooks */
    return status;
}

#else

clv_status clv_glpk_run(clv_status (*body)(void *, clv_error *), void *arg, clv_error *err)
{
    (void)body;
    (void)arg;
    return clv_fail(err, CLV_EUNSUPP, "built without GLPK");
}

#endif
