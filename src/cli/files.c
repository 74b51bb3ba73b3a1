#include "cli/files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/map.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/control.h"
#include "cli/signals.h"

int cli_model_operand(cli *c, const cli_args *args, const char *by_option, const char **ret_path)
{
    int n = args->n_operands + (by_option != NULL);

    if (n == 0)
        return cli_usage(c, "no model is given");
    if (n > 1)
        return cli_usage(c, "'%s' is one model too many, expected one",
                         args->operands[args->n_operands - 1]);
    *ret_path = by_option ? by_option : args->operands[0];
    if (**ret_path == '\0')
        return cli_usage(c, "the model's path is empty");
    if (strcmp(*ret_path, "-") == 0)
        return cli_usage(c, "a model is not read from standard input, expected a file");
    return CLI_EXIT_OK;
}

int cli_open(cli *c, const char *path, cleave_model **ret)
{
    cleave_control control = cli_control(c);
    cleave_error error;

    return cleave_model_open(path, &control, ret, &error) == CLEAVE_OK
               ? CLI_EXIT_OK
               : cli_fail_library(c, &error);
}

/* Blanks around a name or a size are the shell's or the hand's, not the model's. */
static char *trim(char *text)
{
    size_t n = strlen(text);

    while (n > 0 && text[n - 1] == ' ')
        text[--n] = '\0';
    return text + strspn(text, " ");
}

/* Up to the comma that ends NAME=SIZE; one before the '=' belongs to the name. */
static size_t binding_length(const char *text)
{
    size_t n = strcspn(text, "=");

    return n + strcspn(text + n, ",");
}

static int bind_one(cli *c, cleave_model *model, clv_map *seen, const char *text, size_t n)
{
    clv_error err;
    cleave_error error;
    int64_t size = 0;
    int32_t number = (int32_t)seen->n, first = number;
    char *symbol = clv_arena_printf(c->arena, "%.*s", (int)n, text);

    if (!symbol)
        return cli_nomem(c);
    if (symbol[strspn(symbol, " ")] == '\0' || symbol[strspn(symbol, " ")] == ',')
        return cli_usage(c, "--bind has an empty binding, expected NAME=SIZE,...");
    char *equals = strrchr(symbol, '=');
    if (!equals || equals == symbol)
        return cli_usage(c, "--bind: '%.100s' is not NAME=SIZE", symbol);
    *equals = '\0';
    symbol = trim(symbol);
    char *size_text = trim(equals + 1);
    char *what = clv_arena_printf(c->arena, "--bind: the size of '%.100s'", symbol);
    if (!what)
        return cli_nomem(c);
    if (clv_map_put(seen, clv_str_of(symbol), number, &first, &err) != CLV_OK)
        return cli_nomem(c);
    if (first != number)
        return cli_usage(c, "--bind: '%.100s' is given twice", symbol);
    if (clv_parse_int(size_text, what, 1, INT64_MAX, &size, &err) != CLV_OK)
        return cli_usage(c, "%s", err.message);
    if (cleave_model_bind(model, symbol, size, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    return CLI_EXIT_OK;
}

int cli_bind(cli *c, cleave_model *model, const char *bindings)
{
    clv_map seen;
    int code = CLI_EXIT_OK;

    if (clv_map_init(&seen, c->arena, 8, NULL) != CLV_OK)
        return cli_nomem(c);
    while (bindings && code == CLI_EXIT_OK) {
        size_t n = binding_length(bindings);
        code = bind_one(c, model, &seen, bindings, n);
        bindings = bindings[n] ? bindings + n + 1 : NULL;
    }
    return code;
}

/* What can be seen before the model is open. */
int cli_check_output(cli *c, const char *option, const char *path, const char *const *others,
                     int n_others)
{
    struct stat st;
    size_t n = strlen(path);

    if (clv_same_place(path, others[0]))
        return cli_usage(c, "%s: '%s' is the input itself, which is never written", option, path);
    for (int i = 1; i < n_others; i++)
        if (others[i] && clv_same_place(path, others[i]))
            return cli_usage(c, "%s: '%s' is also '%s' of this run, expected another file", option,
                             path, others[i]);
    if ((n > 0 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return cli_usage(c, "%s: '%s' is a folder, expected a file", option, path);
    return CLI_EXIT_OK;
}

int cli_try_output(cli *c, cleave_model *model, const char *path)
{
    cleave_error error;

    if (!path)
        return CLI_EXIT_OK;
    cli_be_careful_of(path); /* the try makes a file */
    cleave_status status = cleave_check_output(model, path, &error);
    cli_be_careful(false);
    return status == CLEAVE_OK ? CLI_EXIT_OK : cli_fail_library(c, &error);
}

int cli_one_operand(cli *c, const cli_args *args, const char *what)
{
    if (args->n_operands == 1)
        return CLI_EXIT_OK;
    if (args->n_operands == 0)
        return cli_usage(c, "no %s is given", what);
    return cli_usage(c, "'%s' is one %s too many, expected one",
                     args->operands[args->n_operands - 1], what);
}

int cli_prepare_output(cli *c, const cli_value *output, const char *const *others, int n_others)
{
    if (!output->by)
        return CLI_EXIT_OK;
    int code = cli_check_output(c, output->by, output->text, others, n_others);
    return code == CLI_EXIT_OK ? cli_try_output(c, NULL, output->text) : code;
}
