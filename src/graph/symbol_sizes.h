/* symbol_sizes.h - sizes of symbols, what follows from them by relations, and what contradicts.
 *
 * Unit propagation: a relation of which all symbols but one have a size gives that one its size,
 * and one of which all have a size is checked. Relations are taken in the order in which they
 * become ready, first of all in their own, so the same sizes always give the same sentence.
 */
#ifndef CLV_GRAPH_SYMBOL_SIZES_H
#define CLV_GRAPH_SYMBOL_SIZES_H

#include "graph/relations.h"

#define CLV_SIZE_OPEN    0
#define CLV_SIZE_ANY     (-1) /* there is one, but not yet which: for asking who depends on whom */

#define CLV_FROM_NOTHING (-1)

typedef struct {
    const clv_model *model;
    const clv_relations *relations; /* NULL: none */
    int64_t *size;                  /* by symbol */
    int32_t *from;                  /* by symbol: the relation that its size follows from */
    int32_t *n_open;                /* by relation: symbols without a size */
    int32_t *first_of, *of_symbol;  /* by symbol: its relations */
    int32_t *queue;                 /* relations with at most one open symbol */
    int32_t n_queued, n_done;
} clv_symbol_sizes;

/* All open. In the arena; CLV_ENOMEM. O(symbols + relations). */
clv_status clv_symbol_sizes_new(const clv_model *model, const clv_relations *relations,
                                clv_arena *arena, clv_symbol_sizes **ret, clv_error *err);
/* Gives an open symbol a size of at least 1, or CLV_SIZE_ANY. O(relations of the symbol). */
void clv_symbol_sizes_give(clv_symbol_sizes *sizes, int32_t symbol, int64_t size);
/* Gives sizes to all symbols whose size follows. CLV_EFORMAT: sizes contradict each other; the
 * sentence names symbols, sizes and the relation. A relation with CLV_SIZE_ANY in it contradicts
 * nothing. O(relations) for all calls together. */
clv_status clv_symbol_sizes_follow(clv_symbol_sizes *sizes, clv_error *err);

/* What the size of a symbol follows from, by its relation: "past + sequence" into buf. Returns buf.
 */
const char *clv_symbol_size_origin(const clv_symbol_sizes *sizes, int32_t symbol, char *buf,
                                   size_t size);

#endif
