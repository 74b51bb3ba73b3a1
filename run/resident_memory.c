#include "run/resident_memory.h"

#include <stdio.h>

clr_resident clr_resident_read(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = 0;
    clr_resident m = { 0 };

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld kB", &kib) == 1)
            m.most = (int64_t)kib * 1024;
        else if (sscanf(line, "VmRSS: %lld kB", &kib) == 1)
            m.now = (int64_t)kib * 1024;
    if (f)
        fclose(f);
    return m;
}

bool clr_resident_reset_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (!f)
        return false;
    bool done = fputs("5", f) >= 0; /* proc(5): reset the peak resident set size */
    return fclose(f) == 0 && done;
}

clr_resident clr_resident_end(int64_t *peak)
{
    clr_resident m = clr_resident_read();

    if (m.most > *peak)
        *peak = m.most;
    return m;
}

int64_t clr_resident_begin(int64_t *peak)
{
    (void)clr_resident_end(peak);
    return clr_resident_reset_peak() ? clr_resident_read().now : 0;
}
