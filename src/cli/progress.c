#include <stdio.h>

#include "base/units.h"
#include "cli/cli.h"

/* One line on the terminal, drawn over itself a few times a second. Nothing in a pipe. */

#define EVERY 0.1 /* seconds */
#define WIDTH 79

static void draw(const cleave_progress *p)
{
    char line[200], time[32];
    size_t n = (size_t)snprintf(line, sizeof line, "%d candidates judged, %d waiting",
                                p->candidates_judged, p->candidates_queued);

    if (p->found)
        n += (size_t)snprintf(line + n, sizeof line - n, "; best %s",
                              clv_show_time(time, (int64_t)(p->objective * 1e9 + 0.5)));
    n += (size_t)snprintf(line + n, sizeof line - n, "; %.0f s", p->seconds);
    if (p->seconds_left >= 0)
        n += (size_t)snprintf(line + n, sizeof line - n, ", about %.0f s left", p->seconds_left);
    fprintf(stderr, "\r%-*.*s", WIDTH, WIDTH, line);
    fflush(stderr);
}

int cli_on_progress(void *ctx, const cleave_progress *progress)
{
    cli_progress *p = ctx;

    if (p->shown && progress->seconds >= p->next) {
        draw(progress);
        p->dirty = true;
        p->next = progress->seconds + EVERY;
    }
    return cli_signal() != 0;
}

void cli_end_progress(cli_progress *progress)
{
    if (progress->dirty)
        fprintf(stderr, "\r%*s\r", WIDTH, "");
    progress->dirty = false;
}
