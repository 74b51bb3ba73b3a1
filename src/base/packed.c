#include "base/packed.h"

#include <string.h>

static void copy_element(uint8_t *to, int64_t at, const uint8_t *source, int64_t from, int bits)
{
    int per = 8 / bits;
    unsigned mask = (1u << bits) - 1;
    unsigned value = (unsigned)source[from / per] >> (from % per * bits) & mask;
    unsigned shift = (unsigned)(at % per * bits);
    to[at / per] = (uint8_t)((to[at / per] & ~(mask << shift)) | value << shift);
}

void clv_copy_elems(uint8_t *to, int64_t at, const uint8_t *source, int64_t from, int64_t n,
                    int bits)
{
    if (bits >= 8) {
        int64_t width = bits / 8;
        memcpy(to + at * width, source + from * width, (size_t)(n * width));
        return;
    }
    int per = 8 / bits;
    for (; n > 0 && at % per != 0; n--)
        copy_element(to, at++, source, from++, bits);
    int64_t whole = n / per;
    int shift = (int)(from % per) * bits;
    const uint8_t *in = source + from / per;
    uint8_t *out = to + at / per;
    if (shift == 0 && whole > 0)
        memcpy(out, in, (size_t)whole);
    for (int64_t i = 0; shift != 0 && i < whole; i++)
        out[i] = (uint8_t)(in[i] >> shift | in[i + 1] << (8 - shift));
    for (int64_t i = whole * per; i < n; i++)
        copy_element(to, at + i, source, from + i, bits);
}
