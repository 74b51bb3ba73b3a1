/* memory_bound.h - lower bounds: what no cut can avoid to hold in memory.
 *
 * While a unit runs, its device holds what its operators read and write, wherever the units around
 * it are. Nothing is counted that depends on where they are, nor any workspace.
 */
#ifndef CLV_COMPILE_MEMORY_BOUND_H
#define CLV_COMPILE_MEMORY_BOUND_H

#include "compile/program.h"

/* live_bytes[u], n_units: at least so many bytes of the arena are in use at some operator of unit
 * u, in any assignment. O(ops + reads + slots). */
clv_status clv_unit_live_bytes(const clv_program *p, clv_arena *arena, int64_t *live_bytes,
                               clv_error *err);

/* held_bytes[u], n_units: so many bytes of unit u are in use on its device all the time that other
 * units run there, in any assignment, and live_bytes of those does not count them: inputs of the
 * model that it alone reads before it runs, outputs of the model that no other unit reads
 * afterwards, whichever are less. A decoder's cache is so. O(reads + slots). */
clv_status clv_unit_held_bytes(const clv_program *p, clv_arena *arena, int64_t *held_bytes,
                               clv_error *err);

/* copied_bytes[u], n_units: what unit u adds to both with several micro-batches in flight, which
 * have one more copy of the model's inputs and outputs each (in_flight.h): those that it alone
 * touches. States have more where there are several stages alone. O(reads + slots). */
clv_status clv_unit_copied_bytes(const clv_program *p, clv_arena *arena, int64_t *copied_bytes,
                                 clv_error *err);

#endif
