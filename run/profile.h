/* profile.h - what the runtime's profile says of the time of each node. */
#ifndef CLV_RUN_PROFILE_H
#define CLV_RUN_PROFILE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    const char *name, *op_type;
    double seconds; /* all its runs together */
    int64_t runs;
} clr_node_time;

typedef struct {
    const clr_node_time *at; /* in the order in which they ran first */
    int32_t n;
} clr_node_times;

/* Reads the runtime's profile: a JSON list of events. Models have one run in it for each run.
 * CLV_EIO names the file: it cannot be read, or the runtime could not write all of it. CLV_EFORMAT:
 * it is no JSON, as where a name has a quote. */
clv_status clr_profile_read(const char *path, clv_arena *arena, clr_node_times *ret,
                            clv_error *err);
/* Its text, without a file; path names it in messages. */
clv_status clr_profile_parse(const char *path, clv_str text, clv_arena *arena, clr_node_times *ret,
                             clv_error *err);

#endif
