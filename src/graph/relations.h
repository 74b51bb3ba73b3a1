/* relations.h - what holds between the symbols of a model in every valid run.
 *
 * total = past + sequence: keys that are joined are as long as both, and the file calls that the
 * total. Inference finds such relations where operators need dimensions to be equal, and where it
 * finds an output of the graph by one name and the file declares it by another. Of bodies that may
 * not run (of If, Loop, Scan) nothing is taken, and nothing where a dimension of 1 may stretch.
 *
 * Relations are kept in the order in which they are met, each once.
 */
#ifndef CLV_GRAPH_RELATIONS_H
#define CLV_GRAPH_RELATIONS_H

#include "graph/symbol_sums.h"

/* left = right. Both are symbols or sums without a symbol in common, or right is a number; where a
 * side is one symbol, left is. */
typedef struct {
    clv_dim left, right;
    /* Of a cache whose past and present may share one buffer: then left is at least `added` and at
     * most `past`. CLV_DIM_UNKNOWN: they never do. */
    clv_dim past, added;
} clv_relation;

typedef struct {
    clv_symbol_sums sums;
    clv_relation *at;
    int32_t n, cap;
    clv_map ids;
    bool disagree; /* numbers that have to be equal were not */
    bool failed;   /* there was no memory for one; it was left out */
} clv_relations;

/* Of a model, none yet; grows in the arena. CLV_ENOMEM. O(1). */
clv_status clv_relations_new(const clv_model *model, clv_arena *arena, clv_relations **ret,
                             clv_error *err);

/* Two dimensions are equal. What says nothing of symbols is left out. NULL: ignored. O(1) expected.
 */
void clv_relate(clv_relations *relations, clv_dim a, clv_dim b);
/* The keys that attention reads are those of the past and those that are added, or the buffer of
 * the past has room for the new ones too. */
void clv_relate_cache(clv_relations *relations, clv_dim total, clv_dim past, clv_dim added);

/* Adds "past_sequence_length + 2 * n + 1" to the n bytes of buf, as clv_add_words(); where there
 * are sizes (by symbol; 0: none), "past_sequence_length=100 + ...". O(terms). */
size_t clv_add_dim_words(char *buf, size_t size, size_t n, const clv_symbol_sums *sums, clv_dim d,
                         const int64_t *sizes);
/* "total = past + sequence" into buf. Returns buf. */
const char *clv_relation_show(const clv_relations *relations, const clv_relation *relation,
                              char *buf, size_t size);

#endif
