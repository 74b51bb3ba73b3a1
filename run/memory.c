#include "run/memory.h"

#include <stdio.h>

clr_memory clr_memory_look(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = 0;
    clr_memory m = { 0 };

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld kB", &kib) == 1)
            m.most = (int64_t)kib * 1024;
        else if (sscanf(line, "VmRSS: %lld kB", &kib) == 1)
            m.now = (int64_t)kib * 1024;
    if (f)
        fclose(f);
    return m;
}

bool clr_memory_restart(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (!f)
        return false;
    bool done = fputs("5", f) >= 0; /* proc(5): reset the peak resident set size */
    return fclose(f) == 0 && done;
}

clr_memory clr_memory_after(int64_t *peak)
{
    clr_memory m = clr_memory_look();

    if (m.most > *peak)
        *peak = m.most;
    return m;
}

int64_t clr_memory_before(int64_t *peak)
{
    (void)clr_memory_after(peak);
    return clr_memory_restart() ? clr_memory_look().now : 0;
}
