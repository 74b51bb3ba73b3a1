#include "run/resident_memory.h"

#include <stdbool.h>
#include <stdio.h>

static clr_resident read_status(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = 0;
    clr_resident m = { 0 };

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld kB", &kib) == 1)
            m.peak_bytes = (int64_t)kib * 1024;
        else if (sscanf(line, "VmRSS: %lld kB", &kib) == 1)
            m.now_bytes = (int64_t)kib * 1024;
    if (f)
        fclose(f);
    return m;
}

clr_resident clr_resident_end(int64_t *most_bytes)
{
    clr_resident m = read_status();

    if (m.peak_bytes > *most_bytes)
        *most_bytes = m.peak_bytes;
    return m;
}

int64_t clr_resident_begin(int64_t *most_bytes)
{
    (void)clr_resident_end(most_bytes);
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f)
        return 0;
    bool reset = fputs("5", f) >= 0; /* proc(5): reset the peak resident set size */
    return fclose(f) == 0 && reset ? read_status().now_bytes : 0;
}
