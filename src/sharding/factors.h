/* factors.h - what may be split in one operator: its sharding rule, resolved for its shapes.
 *
 * A rule names factors: (b,i,k),(k,j)->(b,i,j). A dimension of an input or output is a factor, or
 * the product of several, the first outermost, or none (size 1, or always whole). To split a factor
 * over a mesh axis splits every dimension that it is part of; an input without it is copied; an
 * output without it is partial if the factor is reduced. ops.def has the rules, docs/sharding.md
 * the notation.
 */
#ifndef CLV_SHARDING_FACTORS_H
#define CLV_SHARDING_FACTORS_H

#include "graph/infer.h"
#include "sharding/layout.h"

typedef enum {
    CLV_FACTOR_PARALLEL, /* parts have nothing to do with each other */
    CLV_FACTOR_REDUCED,  /* not in the outputs: parts give partial results */
    CLV_FACTOR_WHOLE,    /* must not be split: a softmax axis, a sequence of steps */
    CLV_FACTOR_HALO      /* parts need the borders of their neighbours */
} clv_factor_kind;

typedef struct {
    char name[12]; /* as in the rule: "b", "k", "heads" */
    int64_t size;  /* at least 0; -1 where the shape is open, then it is not split */
    clv_factor_kind kind;
    clv_reduce reduce;     /* CLV_FACTOR_REDUCED */
    int64_t granule;       /* parts are multiples of it: group size of quantised weights; 1 */
    int64_t before, after; /* CLV_FACTOR_HALO: elements of the input dimension beyond a part */
    bool even;             /* parts must be of one size (mean) */
    /* Its elements are chosen by number, rows of a table by the indices of input 1, experts by the
     * router: a part answers for those of its own, and gives 0 for all others. */
    bool by_index;
} clv_factor;

typedef struct {
    const int16_t *at; /* factors, outermost first */
    int16_t n;         /* 0: always whole on every device */
} clv_dim_factors;

typedef struct {
    int32_t rank; /* 0 for a missing input, and where the rank is open */
    const clv_dim_factors *dims;
    bool once; /* a bias: where parts of a sum are added up later, only the first part has it; the
                * others take zeros. This is about reduced factors that the operand itself has not.
                */
} clv_operand_factors;

/* A number in an attribute or in a constant input that has to change on a shard: the group of a
 * Conv, the shape of a Reshape. It becomes the product of the local sizes of these factors. Only
 * numbers with a factor that may be split are listed; others stay as they are. */
typedef struct {
    const char *attr; /* NULL: the value of input `in` */
    int32_t in;       /* -1: an attribute */
    int32_t at;       /* element of the list or value; -1: it is one number */
    clv_dim_factors of;
    bool zero; /* becomes 0 instead, where one of the factors is split: padding beside a halo */
} clv_local;

typedef struct {
    int32_t n_factors, n_in, n_out; /* n_in: explicit inputs */
    const clv_factor *factors;
    const clv_operand_factors *in, *out;
    const clv_local *local;
    int32_t n_local;
    /* The outputs tell of the whole shape of the inputs, which is known beforehand: they are
     * constants of a plan, whatever the layout of the inputs (Shape, Size). */
    bool by_shape;
    const char *why_whole; /* NULL, or why nothing of this operator can be split, in a sentence */
    /* With why_whole: nothing is known of how it may be split. Its rule does not say that it must
     * be whole; there is none, or none for these shapes and attributes. */
    bool no_rule;
} clv_factors;

/* The rule of an operator for the shapes in types. An operator without a rule, or whose rule does
 * not fit its shapes and attributes, has no factors, and why_whole says why; that is no failure.
 * Fails only where memory runs out, or the rule itself cannot be read. The result lives in the
 * arena. O(length of the rule + dimensions). */
clv_status clv_factors_resolve(const clv_model *model, const clv_types *types, clv_op op,
                               clv_arena *arena, clv_factors *ret, clv_error *err);

/* The same rule with one factor taken apart: n becomes n' * n, n' outermost, of size `outer`, which
 * must divide n, and have the last id; the others keep theirs. Only for parallel and reduced
 * factors that are not chosen by index. */
clv_status clv_factors_refine(const clv_factors *f, int32_t factor, int64_t outer, clv_arena *arena,
                              clv_factors *ret, clv_error *err);

/* The rules of all operators of a graph, by operator. Where an operator can split only an inner
 * part of a dimension, (3, part) of queries, keys and values in one, the factors of the operators
 * that lead there are taken apart alike, back to the product that makes them: its weights can be
 * laid out so that nothing has to be moved. Likewise where a reshape fuses two dimensions of which
 * only the inner one is parallel all through, or only the outer one: rows (s*b) of a sequence and a
 * batch. O(operators), times the length of such a chain. */
clv_status clv_factors_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                           clv_factors **ret, clv_error *err);

/* The same rules for one mesh. Where an axis does not divide what stands before other factors in a
 * dimension, the 25 of 25 heads of 64 over two devices, the operators that lead there are taken
 * apart likewise: then 13 and 12 heads can be split from one product to the other. *ret is all
 * itself where nothing is to be done, else copies in the arena. O(operators), times the length of
 * such a chain. */
clv_status clv_factors_for_mesh(const clv_types *types, clv_factors *all, const clv_mesh *mesh,
                             clv_arena *arena, clv_factors **ret, clv_error *err);

/* A choice of an operator: by mesh axis the factor that it splits, or -1. Layouts that its input k
 * must have, and that its output k then has. axis order on one dimension: the factor's place, then
 * the axis number. False: the choice is not allowed (a whole factor, a part smaller than its
 * granule, uneven where even is asked, a halo wider than a part). */
bool clv_factors_allow(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis);
void clv_factors_in(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis,
                    int32_t k, clv_layout *ret);
void clv_factors_out(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis,
                     int32_t k, clv_layout *ret);

/* "(m,k),(k,n)->(m,n)": the dimensions of inputs and outputs, each with its factors, "_" where it is
 * always whole, "!" behind a factor that must be. NULL: no memory. O(dimensions). */
const char *clv_factors_show(const clv_factors *f, clv_arena *arena);

/* Whether a text is a rule that clv_factors_resolve() can read, and every function that it names
 * exists. Else false, and a sentence in err. */
bool clv_rule_text_check(const char *text, clv_error *err);

#endif
