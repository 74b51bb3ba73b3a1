#include "explain/cells.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"

const char *clv_cell_bytes(clv_text *text, int64_t bytes)
{
    if (bytes < 0)
        return NULL;
    return clv_text_keep(text, clv_show_bytes((char[32]){ 0 }, bytes));
}

const char *clv_cell_flops(clv_text *text, int64_t flops)
{
    if (flops < 0)
        return NULL;
    return clv_text_keep(text, clv_show_flops((char[32]){ 0 }, (double)flops));
}

const char *clv_cell_time(clv_text *text, int64_t ns)
{
    if (ns < 0)
        return NULL;
    return clv_text_keep(text, clv_show_time((char[32]){ 0 }, ns));
}

const char *clv_cell_count(clv_text *text, int64_t n)
{
    char shown[32];

    snprintf(shown, sizeof shown, "%" PRId64, n);
    return clv_text_keep(text, shown);
}

const char *clv_cell_name(clv_text *text, const char *name)
{
    const char *shown = clv_show_name(text->arena, clv_str_of(name ? name : "?"));
    text->failed |= !shown;
    return shown;
}

const char *clv_cell_short(clv_text *text, const char *name)
{
    const char *shown = clv_show_name_cut(text->arena, clv_str_of(name ? name : "?"), 30);
    text->failed |= !shown;
    return shown;
}
