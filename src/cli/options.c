#include "cli/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/units.h"

#define HELP_WIDTH  80 /* columns of a terminal */
#define HELP_COLUMN 28 /* of what an option does */

typedef struct {
    const cli_option *options;
    int n_options;
    char **argv;
    int argc, at; /* at: the argument being looked at */
    clv_arena *arena;
    cli_args *args;
} parser;

/* The option whose name or letter is the first n characters of text, or -1. */
static int find_option(const parser *p, const char *text, size_t n)
{
    for (int i = 0; i < p->n_options; i++) {
        const char *name = p->options[i].name, *letter = p->options[i].letter;
        if (strlen(name) == n && memcmp(name, text, n) == 0)
            return i;
        if (letter && strlen(letter) == n && memcmp(letter, text, n) == 0)
            return i;
    }
    return -1;
}

static clv_status fail_unknown(const parser *p, const char *text, size_t n, clv_error *err)
{
    const char **names = CLV_NEW_ARRAY(p->arena, const char *, p->n_options);
    char *given = clv_arena_printf(p->arena, "%.*s", (int)n, text);

    if (!names || !given)
        return clv_fail_nomem(err, "the arguments");
    for (int i = 0; i < p->n_options; i++)
        names[i] = p->options[i].name;
    const char *near = clv_suggest(given, names, p->n_options);
    return clv_fail(err, CLV_EUSAGE, "unknown option '%.80s'%s%s%s", given,
                    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

#define SECONDS_MAX 1000000000 /* the most that the library takes */

static clv_status parse_seconds(const char *text, const char *name, double *ret, clv_error *err)
{
    char *end = NULL;
    double value = strtod(text, &end);

    if (strspn(text, "0123456789.") != strlen(text) || *end || !(value > 0) || value > SECONDS_MAX)
        return clv_fail(err, CLV_EUSAGE,
                        "%s is '%.80s': expected seconds, a number above 0 and at most %d", name,
                        text, SECONDS_MAX);
    *ret = value;
    return CLV_OK;
}

static clv_status parse_time(const char *text, const char *name, double *ret, clv_error *err)
{
    int64_t ns;

    CLV_TRY(clv_parse_time(text, name, &ns, err));
    if (ns < 1 || ns > SECONDS_MAX * INT64_C(1000000000))
        return clv_fail(err, CLV_EUSAGE, "%s is '%.80s': expected more than nothing, up to %ds",
                        name, text, SECONDS_MAX);
    *ret = (double)ns * 1e-9;
    return CLV_OK;
}

static clv_status parse_number(const char *text, const char *name, double *ret, clv_error *err)
{
    char *end = NULL;
    double value = strtod(text, &end);

    if (strspn(text, "0123456789.eE+-") != strlen(text) || *end || !(value > 0) || isinf(value))
        return clv_fail(err, CLV_EUSAGE, "%s is '%.80s': expected a number above 0", name, text);
    *ret = value;
    return CLV_OK;
}

static clv_status parse_part(const char *text, const char *name, double *ret, clv_error *err)
{
    char *end = NULL;
    double value = strtod(text, &end);
    bool percent = *end == '%';

    if (percent)
        value /= 100;
    if (strspn(text, "0123456789.") + percent != strlen(text) || end[percent] || end == text ||
        !(value >= 0 && value < 1))
        return clv_fail(err, CLV_EUSAGE,
                        "%s is '%.80s': expected a part from 0 to less than 1, as 0.01 or 1%%",
                        name, text);
    *ret = value;
    return CLV_OK;
}

static clv_status parse_choice(const cli_option *o, const char *text, int64_t *ret, clv_error *err)
{
    char list[200] = "";
    size_t n = 0;

    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(text, o->choices[i]) == 0) {
            *ret = i;
            return CLV_OK;
        }
        n += (size_t)snprintf(list + n, sizeof list - n, "%s'%s'", i ? " or " : "", o->choices[i]);
    }
    return clv_fail(err, CLV_EUSAGE, "%s is '%.80s': expected %s", o->name, text, list);
}

/* base/units.h says CLV_EFORMAT of a bad number; on the command line that is a wrong request. */
static clv_status parse_typed(const cli_option *o, const char *text, cli_value *v, clv_error *err)
{
    clv_status status = CLV_OK;

    switch (o->kind) {
    case CLI_FLAG:
    case CLI_TEXT:
        break;
    case CLI_INT:
        status = clv_parse_int(text, o->name, o->min, o->max, &v->number, err);
        break;
    case CLI_BYTES:
        status = clv_parse_bytes(text, o->name, &v->number, err);
        if (status == CLV_OK && v->number < 1)
            status = clv_fail(err, CLV_EUSAGE, "%s is '%.80s': expected more than nothing", o->name,
                              text);
        break;
    case CLI_SECONDS:
        status = parse_seconds(text, o->name, &v->seconds, err);
        break;
    case CLI_TIME:
        status = parse_time(text, o->name, &v->seconds, err);
        break;
    case CLI_NUMBER:
        status = parse_number(text, o->name, &v->real, err);
        break;
    case CLI_PART:
        status = parse_part(text, o->name, &v->real, err);
        break;
    case CLI_CHOICE:
        status = parse_choice(o, text, &v->number, err);
        break;
    }
    if (status != CLV_OK && status != CLV_ENOMEM) {
        status = CLV_EUSAGE;
        err->status = status;
    }
    return status;
}

static clv_status store(parser *p, const cli_option *o, const char *text, clv_error *err)
{
    int slot = o->same_as ? find_option(p, o->same_as, strlen(o->same_as)) : (int)(o - p->options);
    cli_value *v = &p->args->values[slot], new = { .by = o->name, .text = text };

    if (v->by && !o->repeats && strcmp(v->by, o->name) == 0)
        return clv_fail(err, CLV_EUSAGE, "%s is given twice", o->name);
    if (v->by && !o->repeats)
        return clv_fail(err, CLV_EUSAGE, "%s and %s are the same option, give one of them", v->by,
                        o->name);
    if (o->kind != CLI_FLAG && *text == '\0')
        return clv_fail(err, CLV_EUSAGE, "%s is empty: expected %s", o->name, o->value);
    CLV_TRY(parse_typed(o, text, &new, err));
    if (v->by) {
        new.text = clv_arena_printf(p->arena, "%s,%s", v->text, text);
        if (!new.text)
            return clv_fail_nomem(err, "the arguments");
    }
    *v = new;
    return CLV_OK;
}

static clv_status parse_option(parser *p, clv_error *err)
{
    const char *arg = p->argv[p->at];
    const char *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
    int i = find_option(p, arg, n);

    if (i < 0)
        return fail_unknown(p, arg, n, err);
    const cli_option *o = &p->options[i];
    if (o->kind == CLI_FLAG) {
        if (equals)
            return clv_fail(err, CLV_EUSAGE, "%s takes no value", o->name);
        return store(p, o, "", err);
    }
    if (equals)
        return store(p, o, equals + 1, err);
    if (p->at + 1 >= p->argc || p->argv[p->at + 1][0] == '-')
        return clv_fail(err, CLV_EUSAGE, "%s has no value: expected %s", o->name, o->value);
    return store(p, o, p->argv[++p->at], err);
}

clv_status cli_parse(const cli_table *table, int argc, char **argv, clv_arena *arena, cli_args *ret,
                     clv_error *err)
{
    cli_args args = { .values = CLV_NEW_ARRAY(arena, cli_value, table->n_options),
                      .operands = CLV_NEW_ARRAY(arena, const char *, argc) };
    parser p = { table->options, table->n_options, argv, argc, 0, arena, &args };
    bool only_operands = false;

    if (!args.values || !args.operands)
        return clv_fail_nomem(err, "the arguments");
    for (; p.at < argc; p.at++) {
        const char *arg = argv[p.at];
        if (!only_operands && strcmp(arg, "--") == 0)
            only_operands = true;
        else if (!only_operands && arg[0] == '-' && arg[1] != '\0')
            CLV_TRY(parse_option(&p, err));
        else
            args.operands[args.n_operands++] = arg;
    }
    *ret = args;
    return CLV_OK;
}

/* before, and text behind it, broken at its spaces where a line would not fit. The first line is at
 * the column already. */
static const char *append_wrapped(const char *before, const char *text, int column,
                                  clv_arena *arena)
{
    while (before) {
        int fits = HELP_WIDTH - column, n = (int)strcspn(text, "\n");
        if (n > fits) {
            n = fits;
            while (n > 0 && text[n] != ' ')
                n--;
            n = n > 0 ? n : fits; /* a word longer than a line */
        }
        before = clv_arena_printf(arena, "%s%.*s\n", before, n, text);
        text += n + (text[n] == ' ' || text[n] == '\n');
        if (!before || !*text)
            break;
        before = clv_arena_printf(arena, "%s%*s", before, column, "");
    }
    return before;
}

static const char *append_option(const char *before, const cli_option *o, clv_arena *arena)
{
    const char *head = clv_arena_printf(arena, "  %s%s%s%s%s", o->name, o->value ? " " : "",
                                        o->value ? o->value : "", o->letter ? ", " : "",
                                        o->letter ? o->letter : "");
    if (!head)
        return NULL;
    before = strlen(head) < HELP_COLUMN
                 ? clv_arena_printf(arena, "%s%-*s", before, HELP_COLUMN, head)
                 : clv_arena_printf(arena, "%s%s\n%*s", before, head, HELP_COLUMN, "");
    return append_wrapped(before, o->help, HELP_COLUMN, arena);
}

const char *cli_options_help(const cli_option *options, int n_options, const char *details,
                             clv_arena *arena)
{
    const char *text = "";
    for (int i = 0; text && i < n_options; i++)
        text = append_option(text, &options[i], arena);
    if (text && details)
        text = clv_arena_printf(arena, "%s\n", text);
    return details ? append_wrapped(text, details, 0, arena) : text;
}
