/* bindings.h - sizes that are given to symbols, and those that follow from them.
 *
 * Where a relation of the graph leaves a symbol one size, it follows (relations.h). Exporters name
 * dimensions by expressions, too: "past_sequence_length + 1". Where all the names in such a symbol
 * are bound, its size follows. Nobody has to give what follows.
 */
#ifndef CLV_GRAPH_BINDINGS_H
#define CLV_GRAPH_BINDINGS_H

#include "base/arena.h"
#include "graph/relations.h"

/* A value for a symbol of the model: `--bind batch=8`. */
typedef struct {
    clv_str symbol;
    int64_t value; /* at least 1 */
} clv_binding;

/* Of "batch=8"; the symbol, which may have a '=' in it, is a part of the text. what: of which the
 * text is, for the message. CLV_EFORMAT: it is no symbol and a size of at least 1. */
clv_status clv_binding_parse(const char *text, const char *what, clv_binding *ret, clv_error *err);

/* One flag for each symbol of the model: does it stand in the type of an input? NULL when there is
 * no memory. O(symbols + inputs). */
bool *clv_input_symbols(const clv_model *model, clv_arena *arena);

/* All that are known of a model. */
typedef struct {
    const clv_binding *at; /* n: those that are given, then those that follow, by symbol */
    int32_t n, n_given;
    const char **follows_from; /* n: "past + sequence"; NULL: it is given, or its name says it */
} clv_bindings;

/* Adds to the n_given bindings those that follow from them: by relations of the symbols (NULL:
 * none), and of symbols that are expressions of bound names and whole numbers with + - * // / ( ),
 * where they come to a whole number of at least 1. Expressions that do not parse, divide unevenly
 * by '/' or overflow are left unbound; a given size counts more than a name. In the arena.
 * CLV_EFORMAT: sizes contradict a relation; the sentence names symbols, sizes and the relation.
 * O(characters of the symbols + relations). */
clv_status clv_bindings_complete(const clv_model *model, const clv_relations *relations,
                                 clv_arena *arena, clv_bindings *bindings, clv_error *err);

/* Of a symbol without a size. */
typedef struct {
    bool asked;               /* does somebody have to give it one? */
    const char *follows_from; /* "past + sequence": not asked, by a relation; NULL: by its name */
} clv_symbol_need;

/* Of the symbols that are marked as asked for, those stay marked that do not follow from the rest
 * and the bindings: as few as one relation at a time shows, and no sum where its parts may be
 * asked for. needs: by symbol. In the arena; CLV_ENOMEM. O(characters of the symbols +
 * relations). */
clv_status clv_bindings_asked(const clv_model *model, const clv_relations *relations,
                              const clv_bindings *bindings, clv_arena *arena,
                              clv_symbol_need *needs, clv_error *err);

#endif
