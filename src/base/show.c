#include "base/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Bytes of the character at s, of n left; 0 where it is not to be shown. */
static size_t shown_as_it_is(const unsigned char *s, size_t n)
{
    if (s[0] >= 0x20 && s[0] < 0x7f) /* nearly all are */
        return 1;
    int size = clv_utf8_char(s, n);
    bool is_control = s[0] < 0x20 || s[0] == 0x7f || (size == 2 && s[0] == 0xc2 && s[1] < 0xa0);

    return is_control ? 0 : (size_t)size;
}

size_t clv_show(char *to, size_t size, const char *s, size_t n)
{
    const unsigned char *from = (const unsigned char *)s;
    size_t at = 0, i = 0;

    while (i < n) {
        size_t whole = shown_as_it_is(from + i, n - i), room = whole ? whole : CLV_SHOWN_MAX;
        if (room >= size - at)
            break;
        if (whole == 1)
            to[at] = s[i];
        else if (whole)
            memcpy(to + at, s + i, whole);
        else
            snprintf(to + at, size - at, "\\x%02x", from[i]);
        at += room;
        i += whole ? whole : 1;
    }
    to[at] = '\0';
    return i;
}
