/* resolve.h - between the files that turn the text of a rule into factors. */
#ifndef CLV_SHARDING_RESOLVE_H
#define CLV_SHARDING_RESOLVE_H

#include "graph/rule.h"
#include "sharding/rule_text.h"

/* What resolving one operator works with. */
typedef struct {
    clv_rule *r;      /* its attributes, versions and values; r->arena is scratch */
    clv_arena *arena; /* for what is returned */
    const char *why;  /* set: it stays whole, for this reason */
    bool must;        /* with why: its rule says so, or there is nothing in it to split */
    clv_error *err;
} clv_rule_context;

/* Writes the rule of one operator from its shapes and attributes; `param` is what follows the
 * function's name in ops.def. The text lives in w->r->arena. NULL in *ret: w->why is set. */
typedef clv_status (*clv_rule_writer)(clv_rule_context *w, clv_str param, const char **ret);

/* By the name in "=name" or "=name:param" of ops.def; NULL: there is none. */
clv_rule_writer clv_rule_writer_find(clv_str name);

/* The operator stays whole: a sentence, which follows the operator's type. */
clv_status clv_rule_keep_whole(clv_rule_context *w, const char *fmt, ...) CLV_PRINTF(2, 3);

const clv_type *clv_rule_out_type(const clv_rule_context *w,
                                  int32_t k); /* unknown type: left out */

/* Text that grows; NULL text: no memory. */
typedef struct {
    clv_arena *arena;
    char *at;
    int32_t n, cap;
    bool failed;
} clv_rule_writing;
void clv_rule_write(clv_rule_writing *t, const char *fmt, ...) CLV_PRINTF(2, 3);

/* clv_factors_resolve() with an arena for what is only needed meanwhile; it is rewound. */
clv_status clv_factors_resolve_in(const clv_model *model, const clv_types *types, clv_op op,
                                  clv_arena *scratch, clv_arena *arena, clv_factors *ret,
                                  clv_error *err);
/* All of a graph, n_ops; operators that are alike share what they point at. */
clv_status clv_factors_resolve_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                                   clv_factors *ret, clv_error *err);
/* Can the factor be taken apart so that `outer` comes first? */
bool clv_factor_divisible(const clv_factor *one, int64_t outer);
/* The factor in which something begins that has `outer` parts before it in the dimension; in *outer
 * then how many of these are in the factor itself. -1: it begins in no one place. */
int32_t clv_factor_begins(const clv_factors *f, const clv_dim_factors *d, int64_t *outer);
/* Takes apart a dimension of a tensor behind `outer` parts, and with it all that it is the same
 * dimension of in other operators, where that leads to a product with weights. at_start: only
 * factors that a dimension begins with, not what lies within a head; else the part that comes first
 * keeps the name. all: the rules, by operator. O(operators that it goes through, squared). */
typedef struct clv_chain_refiner clv_chain_refiner;
clv_status clv_chain_refiner_new(const clv_graph *graph, clv_factors *all, clv_arena *arena,
                                 clv_chain_refiner **ret, clv_error *err);
clv_status clv_refine_chain(clv_chain_refiner *apart, clv_tensor tensor, int32_t dim, int64_t outer,
                            bool at_start, clv_arena *arena, clv_error *err);
/* Takes apart, in the rules of all operators of a graph, the factors in whose midst a dimension
 * begins that can be split where the first one cannot: a batch within (s*b). Each factor in two, at
 * most. O(operators and their dimensions). */
clv_status clv_refine_fused(const clv_types *types, clv_factors *all, clv_arena *arena,
                            clv_error *err);
/* The rule text for the shapes at hand. */
clv_status clv_rule_fit(clv_rule_context *w, clv_str body, clv_factors *ret);

#endif
