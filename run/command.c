#include "run/command.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_out.h"

int clr_print(const char *text)
{
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return RUN_OK;
    if (errno == EPIPE) /* whoever read has read enough: end as quietly as a killed program */
        return 128 + SIGPIPE;
    fprintf(stderr, "cleave-run: standard output: %s\n", strerror(errno));
    return RUN_IO;
}

/* "input", "io", ... for a status; the same words that cleave uses. */
static const char *word_of(clv_status status)
{
    switch (status) {
    case CLV_EUSAGE:
        return "usage";
    case CLV_EFORMAT:
    case CLV_ELIMIT:
        return "input";
    case CLV_EUNSUPP:
        return "unsupported";
    case CLV_EIO:
        return "io";
    case CLV_ENOMEM:
        return "memory";
    case CLV_ECANCELED:
        return "canceled";
    case CLV_OK:
    case CLV_ESOLVER:
    case CLV_EINTERNAL:
        break;
    }
    return "internal";
}

static int code_of(clv_status status)
{
    switch (status) {
    case CLV_OK:
        return RUN_OK;
    case CLV_EUSAGE:
        return RUN_USAGE;
    case CLV_EFORMAT:
    case CLV_ELIMIT:
    case CLV_EUNSUPP:
        return RUN_INPUT;
    case CLV_EIO:
        return RUN_IO;
    case CLV_ENOMEM:
    case CLV_ECANCELED:
    case CLV_ESOLVER:
    case CLV_EINTERNAL:
        break;
    }
    return RUN_FAULT;
}

int clr_print_error(clr_cli *c, const clv_error *error)
{
    clv_json_out out;

    fprintf(stderr, "cleave-run: %s\n", error->message);
    if (!c->json)
        return code_of(error->status);
    clv_json_begin(&out, c->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_open_object(&out, "error");
    clv_json_put_string(&out, "code", word_of(error->status));
    clv_json_put_string(&out, "message", error->message);
    clv_json_close_object(&out);
    clv_json_close_object(&out);
    if (clv_json_end(&out, NULL) == CLV_OK)
        clr_print(out.text);
    return code_of(error->status);
}

int clr_print_usage_error(clr_cli *c, const char *fmt, ...)
{
    char words[CLV_MESSAGE_SIZE - 64];
    clv_error error;
    va_list args;

    va_start(args, fmt);
    clv_words(words, sizeof words, fmt, args);
    va_end(args);
    clv_fail(&error, CLV_EUSAGE, "%s; try 'cleave-run %s%s--help'", words,
             c->command ? c->command->name : "", c->command ? " " : "");
    return clr_print_error(c, &error);
}

int clr_print_nomem(clr_cli *c)
{
    clv_error error;

    clv_fail_nomem(&error, "the answer");
    return clr_print_error(c, &error);
}
