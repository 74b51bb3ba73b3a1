#include "cli/colour.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"

#define COLUMNS_MIN 60  /* below it, tables of numbers alone are wider */
#define COLUMNS_MAX 200 /* above it, a row is hard to follow */

enum { AUTO, ALWAYS, NEVER };
const char *const cli_color_choices[] = { "auto", "always", "never", NULL };

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

bool cli_wants_colour(const cli_value *option)
{
    const char *term = getenv("TERM");
    if (option && option->by && option->number != AUTO)
        return option->number == ALWAYS;
    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0 &&
           !is_set("NO_COLOR");
}

int cli_columns(void)
{
    struct winsize size = { 0 };
    int64_t n = 0;
    clv_error err;
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    if (n == 0 && is_set("COLUMNS"))
        (void)clv_parse_int(getenv("COLUMNS"), "COLUMNS", 1, INT32_MAX, &n, &err);
    if (n == 0)
        return 0;
    return n < COLUMNS_MIN ? COLUMNS_MIN : n > COLUMNS_MAX ? COLUMNS_MAX : (int)n;
}
