#include "base/utf8.h"

#include <stdbool.h>

int clv_utf8_char(const unsigned char *p, size_t n)
{
    if (n == 0)
        return 0;
    int size = p[0] < 0x80   ? 1
               : p[0] < 0xc2 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf5 ? 4
                             : 0;
    if (size == 0 || (size_t)size > n)
        return 0;
    for (int i = 1; i < size; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xed && p[1] > 0x9f;
    bool too_big = p[0] == 0xf4 && p[1] > 0x8f;
    return overlong || surrogate || too_big ? 0 : size;
}
