/* stoppable_sink.h - a sink that asks now and then whether to go on: weights are what takes long.
 */
#ifndef CLV_PROTO_STOPPABLE_SINK_H
#define CLV_PROTO_STOPPABLE_SINK_H

#include "proto/sink.h"

typedef struct {
    clv_sink to;            /* where the bytes go; it has a from_file */
    int (*stop)(void *ctx); /* not 0: no further; NULL: not asked */
    void *stop_ctx;
    const char *what; /* "weights were": for "stopped while weights were written" */
} clv_stoppable;

/* Passes all on, bytes of the opened file in parts of 64 MiB, each after a look at stop. The result
 * lives as long as s. */
clv_sink clv_stoppable_sink(clv_stoppable *s);

/* CLV_ECANCELED where stop says so. */
clv_status clv_stoppable_ask(const clv_stoppable *s, clv_error *err);

#endif
