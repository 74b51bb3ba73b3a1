#include "cli/search.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/answer.h"
#include "cli/control.h"
#include "cli/signals.h"

#define DRAW_EVERY_S 0.1
#define WIDTH        79

enum { VALUE = 40 }; /* a value as text */

/* A number, or what it stands for. */
static void show_value(const cli_search *search, double value, char shown[static VALUE])
{
    if (search->never > 0 && value >= search->never)
        snprintf(shown, VALUE, "never (%g or more)", search->never);
    else
        snprintf(shown, VALUE, "%.*g", search->digits, value);
}

/* Each better solution or bound as a line. Doubles up to 2^53 are exact, so most whole costs are
 * shown as they are. */
static void show_line(const cli_search *search, const cleave_progress *p)
{
    char value[VALUE] = "no solution yet", bound[VALUE] = "infinite";

    if (!isinf(p->objective))
        show_value(search, p->objective, value);
    if (!isinf(p->bound))
        show_value(search, p->bound, bound);
    fprintf(stderr, "%8.3f s  %s, bound %s (%s)\n", p->elapsed_s, value, bound, p->method);
}

/* One line on the terminal, drawn over itself a few times a second. */
static void draw(const cleave_progress *p)
{
    char line[200], time[32];
    size_t n = (size_t)snprintf(line, sizeof line, "%d candidates judged, %d waiting",
                                p->candidates_judged, p->candidates_waiting);

    if (p->found)
        n += (size_t)snprintf(line + n, sizeof line - n, "; best %s",
                              clv_show_time(time, (int64_t)(p->objective * 1e9 + 0.5)));
    n += (size_t)snprintf(line + n, sizeof line - n, "; %.0f s", p->elapsed_s);
    if (p->left_s >= 0)
        n += (size_t)snprintf(line + n, sizeof line - n, ", about %.0f s left", p->left_s);
    fprintf(stderr, "\r%-*.*s", WIDTH, WIDTH, line);
    fflush(stderr);
}

static void on_progress(void *ctx, const cleave_progress *progress)
{
    cli_search *search = ctx;

    if (search->digits > 0) {
        show_line(search, progress);
    } else if (progress->elapsed_s >= search->next_s) {
        draw(progress);
        search->line_stands = true;
        search->next_s = progress->elapsed_s + DRAW_EVERY_S;
    }
}

void cli_search_begin(const cli *c, cli_search *search, int digits)
{
    *search = (cli_search){ .control = cli_control(c), .digits = digits };
    if (!c->quiet && isatty(STDERR_FILENO))
        search->control.progress = on_progress;
    search->control.ctx = search;
}

void cli_search_end(cli_search *search)
{
    if (search->line_stands)
        fprintf(stderr, "\r%*s\r", WIDTH, "");
    search->line_stands = false;
}

int cli_fail_no_solution(cli *c, const cleave_error *error)
{
    return cli_fail(c, CLI_EXIT_NO_PLAN, "no plan", error->message);
}

static int save(cli *c, const cleave_report *report, const char *path)
{
    cleave_error error;

    if (!path)
        return CLI_EXIT_OK;
    cli_be_careful_of_solution(path);
    cleave_status status = cleave_report_save(report, path, &error);
    cli_forget_signals();
    return status == CLEAVE_OK ? CLI_EXIT_OK : cli_fail_library(c, &error);
}

int cli_print_solution(cli *c, cleave_status status, const cleave_error *error,
                       const cleave_report *report, const char *path)
{
    bool found = status == CLEAVE_OK;
    int code = CLI_EXIT_OK;

    if (!found && status != CLEAVE_NO_PLAN)
        return cli_fail_library(c, error);
    if (found)
        code = save(c, report, path);
    if (code == CLI_EXIT_OK)
        code = !found && c->quiet && !c->json ? cli_fail_no_solution(c, error)
                                              : cli_print_report(c, report);
    if (code == CLI_EXIT_OK && cli_signal())
        return 128 + cli_signal();
    return code == CLI_EXIT_OK && !found ? CLI_EXIT_NO_PLAN : code;
}
