/* fuzz_runtime_profile.c - any bytes as the profile that the runtime writes: refused in a sentence,
 * or times of nodes that have names, each once. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/profile.h"

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void check_times(const clr_node_times *times)
{
    for (int32_t i = 0; i < times->n; i++) {
        const clr_node_time *t = &times->at[i];
        must(t->name && t->name[0] && t->op_type);
        must(isfinite(t->seconds) && t->seconds >= 0 && t->runs >= 1);
        for (int32_t k = 0; k < i; k++)
            must(strcmp(times->at[k].name, t->name) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clr_node_times times = { 0 };
    clv_error err = { 0 };
    must(arena != NULL);
    clv_status s = clr_profile_parse("fuzz", (clv_str){ (const char *)data, (int32_t)size }, arena,
                                     &times, &err);
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_EIO || s == CLV_ELIMIT || s == CLV_ENOMEM);
    if (s == CLV_OK)
        check_times(&times);
    else
        must(err.message[0] && memchr(err.message, '\0', sizeof err.message));
    clv_arena_free(arena);
    return 0;
}
