#include "base/int128.h"

__extension__ typedef unsigned __int128 magnitude;

const char *clv_int128_text(char buf[static CLV_INT128_TEXT], clv_int128 value)
{
    char reversed[CLV_INT128_TEXT];
    /* not -value, which the smallest one has not */
    magnitude left = value < 0 ? 0 - (magnitude)value : (magnitude)value;
    int n = 0, at = 0;
    do {
        reversed[n++] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left);
    if (value < 0)
        buf[at++] = '-';
    while (n > 0)
        buf[at++] = reversed[--n];
    buf[at] = '\0';
    return buf;
}
