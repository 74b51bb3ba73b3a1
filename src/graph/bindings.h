/* bindings.h - sizes that are given to symbols, and those that follow from them.
 *
 * Exporters name dimensions by expressions: "past_sequence_length + 1". Where all the names in such
 * a symbol are bound, its size follows, and nobody has to give it.
 */
#ifndef CLV_GRAPH_BINDINGS_H
#define CLV_GRAPH_BINDINGS_H

#include "base/arena.h"
#include "graph/graph.h"

/* A value for a symbol of the model: `--bind batch=8`. */
typedef struct {
    clv_str symbol;
    int64_t value; /* at least 1 */
} clv_binding;

/* Of "batch=8"; the symbol, which may have a '=' in it, is a part of the text. what: of which the
 * text is, for the message. CLV_EFORMAT: it is no symbol and a size of at least 1. */
clv_status clv_binding_parse(const char *text, const char *what, clv_binding *ret, clv_error *err);

/* Adds to the bindings one for each other symbol of the model that is an expression of bound names
 * and whole numbers with + - * // / ( ) and comes to a whole number of at least 1: *bindings
 * becomes a longer array, in the arena. On failure it stays. Expressions that do not parse, divide
 * unevenly by '/' or overflow are left unbound. O(characters of the symbols, times names for the
 * look-up through a map). */
clv_status clv_bindings_complete(const clv_model *model, clv_arena *arena,
                                 const clv_binding **bindings, int32_t *n_bindings, clv_error *err);

#endif
