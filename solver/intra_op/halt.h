/* halt.h - when to stop, asked by every thread that searches. */
#ifndef CLV_SOLVER_INTRA_OP_HALT_H
#define CLV_SOLVER_INTRA_OP_HALT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* One for all threads; only `told` changes. The caller's own stop() is asked on its thread alone.
 */
typedef struct {
    atomic_bool *told;
    int64_t deadline_ns;     /* of clv_now_ns(); 0: none */
    bool (*stop)(void *ctx); /* NULL on other threads than the caller's */
    void *stop_ctx;
} clv_halt;

/* True once told, once the deadline has passed or stop() said so; then for all. */
bool clv_halted(const clv_halt *h);

#endif
