#include "base/glob.h"

bool clv_glob_match(const char *pattern, clv_str name)
{
    const char *star = NULL;
    int32_t i = 0, back = 0;
    while (i < name.n) {
        if (*pattern == '*') { /* first for nothing, then for one character more each time */
            star = ++pattern;
            back = i;
        } else if (*pattern && (*pattern == '?' || *pattern == name.at[i])) {
            pattern++;
            i++;
        } else if (star) {
            pattern = star;
            i = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
