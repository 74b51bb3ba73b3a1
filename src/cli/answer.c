#include "cli/answer.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_out.h"
#include "base/show.h"
#include "cli/signals.h"

#define WARNINGS_SHOWN 10
#define N_NOTES(r)     (sizeof(r)->notes / sizeof *(r)->notes)

int cli_print(cli *c, const char *text)
{
    cli_forget_signals();
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return CLI_EXIT_OK;
    if (errno == EPIPE) /* whoever read has read enough: end as quietly as a killed program */
        return 128 + SIGPIPE;
    fprintf(stderr, "cleave: standard output: %s\n", strerror(errno));
    (void)c;
    return CLI_EXIT_IO;
}

CLV_PRINTF(3, 4) static void one_line(char *buf, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    clv_words(buf, size, fmt, args);
    va_end(args);
}

static void print_json_error(cli *c, const char *word, const char *message)
{
    clv_json_out out;

    clv_json_begin(&out, c->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_open_object(&out, "error");
    clv_json_put_string(&out, "code", word);
    clv_json_put_string(&out, "message", message);
    clv_json_close_object(&out);
    clv_json_close_object(&out);
    if (clv_json_end(&out, NULL) == CLV_OK)
        cli_print(c, out.text);
}

int cli_fail(cli *c, int code, const char *word, const char *message)
{
    char line[CLV_MESSAGE_SIZE + 128];

    cli_forget_signals();
    one_line(line, sizeof line, "%s", message);
    fprintf(stderr, "cleave: %s\n", line);
    if (c->json)
        print_json_error(c, word, line);
    return code;
}

int cli_usage(cli *c, const char *fmt, ...)
{
    char words[CLV_MESSAGE_SIZE], line[CLV_MESSAGE_SIZE + 128];
    va_list args;

    va_start(args, fmt);
    clv_words(words, sizeof words, fmt, args);
    va_end(args);
    snprintf(line, sizeof line, "%s; try 'cleave %s%s--help'", words,
             c->command ? c->command->name : "", c->command ? " " : "");
    return cli_fail(c, CLI_EXIT_USAGE, "usage", line);
}

int cli_nomem(cli *c) { return cli_fail(c, CLI_EXIT_FAULT, "memory", "out of memory"); }

int cli_fail_library(cli *c, const cleave_error *error)
{
    char line[128];

    switch (error->status) {
    case CLEAVE_EUSAGE:
        return cli_usage(c, "%s", error->message);
    case CLEAVE_EINPUT:
    case CLEAVE_ELIMIT:
        return cli_fail(c, CLI_EXIT_INPUT, "input", error->message);
    case CLEAVE_EUNSUPPORTED:
        return cli_fail(c, CLI_EXIT_INPUT, "unsupported", error->message);
    case CLEAVE_EIO:
        return cli_fail(c, CLI_EXIT_IO, "io", error->message);
    case CLEAVE_ENOMEM:
        return cli_fail(c, CLI_EXIT_FAULT, "memory", error->message);
    case CLEAVE_ECANCELED:
        if (cli_signal()) {
            snprintf(line, sizeof line, "stopped by signal %d; %s", cli_signal(), cli_outcome());
            return cli_fail(c, 128 + cli_signal(), "canceled", line);
        }
        break;
    case CLEAVE_OK:
    case CLEAVE_NO_PLAN:
    case CLEAVE_EINTERNAL:
        break;
    }
    return cli_fail(c, CLI_EXIT_FAULT, "internal", error->message);
}

void cli_warn(const cli *c, const cleave_model *model)
{
    const char *warning;
    int n = 0;

    while (!c->quiet && (warning = cleave_model_warning(model, n)) != NULL) {
        char line[CLV_MESSAGE_SIZE];
        one_line(line, sizeof line, "%s", warning);
        if (n++ < WARNINGS_SHOWN)
            fprintf(stderr, "cleave: warning: %s\n", line);
    }
    if (n > WARNINGS_SHOWN)
        fprintf(stderr, "cleave: warning: and %d more, see 'cleave inspect'\n", n - WARNINGS_SHOWN);
}

void cli_note(void *ctx, const char *sentence)
{
    char line[CLV_MESSAGE_SIZE];

    (void)ctx;
    one_line(line, sizeof line, "%s", sentence);
    fprintf(stderr, "cleave: note: %s\n", line);
}

int cli_print_report(cli *c, const cleave_report *report)
{
    if (c->json)
        return cli_print(c, cleave_report_json(report, NULL));
    return c->quiet ? CLI_EXIT_OK : cli_print(c, cleave_report_text(report));
}

double cli_now(void) { return (double)clv_now_ns() * 1e-9; }

/* The plan's own text goes in as it is, only further to the right: a JSON text has line breaks
 * between its tokens alone. */
static int print_plan(cli *c, const char *json, size_t size)
{
    static const char before[] = ",\n  \"plan\": ", next[] = "\n  ", behind[] = "\n}\n";
    size_t lines = 1, n = sizeof before - 1;

    for (const char *at = json; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    char *text =
        clv_arena_take(c->arena, size + sizeof before + sizeof behind + lines * sizeof next);
    if (!text)
        return cli_nomem(c);
    memcpy(text, before, n);
    for (const char *end; *json; json = end) {
        end = strchrnul(json, '\n');
        memcpy(text + n, json, (size_t)(end - json));
        n += (size_t)(end - json);
        end += *end != '\0';
        if (*end) {
            memcpy(text + n, next, sizeof next - 1);
            n += sizeof next - 1;
        }
    }
    memcpy(text + n, behind, sizeof behind);
    return cli_print(c, text);
}

const char *cli_show(cli *c, const char *path)
{
    size_t n = strlen(path), size = n * CLV_SHOWN_MAX + 1;
    char *shown = clv_arena_take(c->arena, size);

    if (shown)
        clv_show(shown, size, path, n);
    return shown;
}

static void write_result(clv_json_out *out, const cli *c, const cli_result *r)
{
    clv_json_open_object(out, NULL);
    clv_json_put_int(out, "schema_version", 1);
    clv_json_put_string(out, "command", c->command->name);
    if (r->plan)
        clv_json_put_bool(out, "fits", cleave_plan_fits(r->plan) != 0);
    clv_json_put_number(out, "seconds", r->seconds);
    clv_json_open_object(out, "outputs");
    clv_json_put_string(out, "model", r->model_path);
    clv_json_put_string(out, "plan", r->plan_path);
    clv_json_close_object(out);
    clv_json_open_array(out, "notes");
    for (size_t i = 0; i < N_NOTES(r); i++)
        if (r->notes[i])
            clv_json_put_string(out, NULL, r->notes[i]);
    clv_json_close_array(out);
    clv_json_close_object(out);
}

int cli_print_result(cli *c, const cli_result *result)
{
    clv_json_out out;

    clv_json_begin(&out, c->arena, true);
    write_result(&out, c, result);
    if (clv_json_end(&out, NULL) != CLV_OK)
        return cli_nomem(c);
    if (!result->plan)
        return cli_print(c, out.text);
    /* "...}\n}\n": the last brace makes room for the plan */
    char *last = strrchr(out.text, '}');
    while (last[-1] == '\n')
        last--;
    *last = '\0';
    int code = cli_print(c, out.text);
    size_t size;
    const char *plan = cleave_report_json(cleave_plan_report(result->plan), &size);
    return code == CLI_EXIT_OK ? print_plan(c, plan, size) : code;
}

int cli_print_notes(cli *c, const cli_result *result)
{
    int code = CLI_EXIT_OK;

    for (size_t i = 0; i < N_NOTES(result) && code == CLI_EXIT_OK; i++) {
        if (!result->notes[i])
            continue;
        const char *shown = cli_show(c, result->notes[i]);
        const char *line = shown ? clv_arena_printf(c->arena, "note: %s\n", shown) : NULL;
        code = line ? cli_print(c, line) : cli_nomem(c);
    }
    return code;
}

int cli_print_written(cli *c, const cli_result *result, const char *words)
{
    if (c->json)
        return cli_print_result(c, result);
    const char *shown = cli_show(c, result->model_path);
    const char *line = shown ? clv_arena_printf(c->arena, "%s %s\n", words, shown) : NULL;
    if (!line)
        return cli_nomem(c);
    if (c->quiet)
        return CLI_EXIT_OK;
    int code = cli_print(c, line);
    return code == CLI_EXIT_OK ? cli_print_notes(c, result) : code;
}
