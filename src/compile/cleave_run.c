#include "compile/cleave_run.h"

#include <string.h>
#include <unistd.h>

#define WHAT           "the runner"
#define ANSWER_MAX     (INT64_C(64) << 20) /* bytes; of many runs some hundred a model and 20 a run */
#define QUOTED_QUOTE_N 4

/* 'it'\''s': as one word of the shell. */
static const char *shell_quoted(const char *word, clv_arena *arena)
{
    size_t n = strlen(word), at = 0;
    char *ret = clv_arena_take(arena, n * QUOTED_QUOTE_N + 3);

    if (!ret)
        return NULL;
    ret[at++] = '\'';
    for (size_t i = 0; i < n; i++) {
        size_t take = word[i] == '\'' ? QUOTED_QUOTE_N : 1;
        memcpy(ret + at, word[i] == '\'' ? "'\\''" : word + i, take);
        at += take;
    }
    ret[at++] = '\'';
    ret[at] = '\0';
    return ret;
}

clv_status clv_cleave_run_call(const clv_cleave_run *call, clv_arena *arena,
                               clv_process_result *ret, clv_error *err)
{
    const char *word = shell_quoted(call->program, arena);
    const char *line = word ? clv_arena_printf(arena, "exec %s", word) : NULL;

    for (const char *const *at = call->words; line && *at; at++)
        line =
            (word = shell_quoted(*at, arena)) ? clv_arena_printf(arena, "%s %s", line, word) : NULL;
    clv_command c = { .command = line,
                      .folder = call->folder,
                      .env = environ,
                      .timeout_ms = call->timeout_ms,
                      .max_output_bytes = ANSWER_MAX,
                      .stop = call->stop,
                      .stop_ctx = call->stop_ctx };
    return line ? clv_process_run(&c, arena, ret, err) : clv_fail_nomem(err, WHAT);
}

clv_status clv_cleave_run_answer(const char *program, const clv_process_result *result,
                                 clv_arena *arena, clv_json **ret, clv_json_at *ret_root,
                                 clv_error *err)
{
    const char *what = clv_arena_printf(arena, "the answer of '%.100s'", program);

    if (!what)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_json_parse(result->output, result->n_output, what, ret, err));
    *ret_root = clv_json_root(*ret, what);
    return CLV_OK;
}
