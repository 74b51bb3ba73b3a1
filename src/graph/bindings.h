/* bindings.h - sizes of symbols that follow from other symbols.
 *
 * Exporters name dimensions by expressions: "past_sequence_length + 1". Where all the names in such
 * a symbol are bound, its size follows, and nobody has to give it.
 */
#ifndef CLV_GRAPH_BINDINGS_H
#define CLV_GRAPH_BINDINGS_H

#include "graph/infer.h"

/* The given bindings, then one for each other symbol of the model that is an expression of bound
 * names and whole numbers with + - * // / ( ) and comes to a whole number of at least 1.
 * Expressions that do not parse, divide unevenly by '/' or overflow are left unbound. O(characters
 * of the symbols, times names for the look-up through a map). */
clv_status clv_bindings_complete(const clv_model *model, const clv_binding *given, int32_t n_given,
                                 clv_arena *arena, const clv_binding **ret, int32_t *ret_n,
                                 clv_error *err);

#endif
