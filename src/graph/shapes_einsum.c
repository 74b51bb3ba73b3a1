/* shapes_einsum.c - Einsum: labels to dims, operand by operand, then labels to the output.
 *
 * Letters are labels; "..." stands for the dimensions without one, which broadcast. Without an
 * arrow the output has the "..." and then, in byte order, the letters that occur once.
 */
#include <ctype.h>

#include "graph/rules.h"
#include "graph/shape_tools.h"

#define N_LABELS 128 /* ASCII */

typedef struct {
    clv_dim dim[N_LABELS];
    int32_t count[N_LABELS];
    clv_dim rest[CLV_RANK_MAX]; /* of "..." */
    int32_t n_rest;             /* CLV_RANK_UNKNOWN: some operand's rank is */
    bool ellipsis;
} einsum;

/* One operand's or the output's letters, and where "..." stands among them. */
typedef struct {
    char label[CLV_RANK_MAX];
    int32_t n, rest_at; /* -1: no "..." */
} term;

static clv_status read_term(clv_rule *r, clv_str text, term *ret)
{
    *ret = (term){ .rest_at = -1 };
    for (int32_t i = 0; i < text.n; i++) {
        char c = text.at[i];
        if (c == ' ')
            continue;
        if (c == '.' && i + 2 < text.n && text.at[i + 1] == '.' && text.at[i + 2] == '.' &&
            ret->rest_at < 0) {
            ret->rest_at = ret->n;
            i += 2;
        } else if (isascii(c) && isalpha((unsigned char)c) && ret->n < CLV_RANK_MAX) {
            ret->label[ret->n++] = c;
        } else {
            return clv_rule_fail(r, "equation term '%.*s' is not letters and one \"...\"",
                                 CLV_STR_ARG(text));
        }
    }
    return CLV_OK;
}

static clv_status join_label(clv_rule *r, einsum *e, char label, clv_dim dim)
{
    int c = label;
    if (e->count[c] == 0)
        e->dim[c] = dim;
    return clv_rule_broadcast_dim(r, e->dim[c], dim, &e->dim[c]);
}

static clv_status join_rest(clv_rule *r, einsum *e, int32_t n, const clv_dim *dims)
{
    if (e->n_rest == CLV_RANK_UNKNOWN)
        return CLV_OK;
    return clv_rule_broadcast(r, e->n_rest, e->rest, n, dims, &e->n_rest, e->rest);
}

static clv_status join_operand(clv_rule *r, einsum *e, const term *t, int32_t k)
{
    const clv_type *in = clv_rule_in(r, k);
    bool ranked = clv_type_ranked(in);
    int32_t n_rest = ranked ? in->rank - t->n : 0;
    if (n_rest < 0 || (n_rest > 0 && t->rest_at < 0))
        return clv_rule_fail(r, "operand %d has rank %d, its term names %d dimensions", k, in->rank,
                             t->n);
    if (t->rest_at >= 0) {
        e->ellipsis = true;
        if (!ranked)
            e->n_rest = CLV_RANK_UNKNOWN;
        else
            CLV_TRY(join_rest(r, e, n_rest, in->dims + t->rest_at));
    }
    for (int32_t i = 0; i < t->n; i++) {
        int32_t axis = i + (t->rest_at >= 0 && i >= t->rest_at ? n_rest : 0);
        CLV_TRY(join_label(r, e, t->label[i], ranked ? in->dims[axis] : CLV_DIM_UNKNOWN));
        e->count[(int)t->label[i]]++;
    }
    return CLV_OK;
}

static clv_status join_operands(clv_rule *r, einsum *e, clv_str left)
{
    int32_t from = 0, k = 0;
    for (int32_t i = 0; i <= left.n; i++) {
        if (i < left.n && left.at[i] != ',')
            continue;
        term t;
        CLV_TRY(read_term(r, (clv_str){ left.at + from, i - from }, &t));
        CLV_TRY(join_operand(r, e, &t, k++));
        from = i + 1;
    }
    if (k != clv_rule_n_in(r))
        return clv_rule_fail(r, "its equation has %d operands, the node %d", k, clv_rule_n_in(r));
    return CLV_OK;
}

static void implicit_output(const einsum *e, term *ret)
{
    *ret = (term){ .rest_at = e->ellipsis ? 0 : -1 };
    for (char c = 'A'; c <= 'z'; c++)
        if (e->count[(int)c] == 1 && ret->n < CLV_RANK_MAX)
            ret->label[ret->n++] = c;
}

static clv_status set_output(clv_rule *r, const einsum *e, const term *t)
{
    clv_dtype dtype = clv_rule_in(r, 0)->dtype;
    clv_dim dims[2 * CLV_RANK_MAX];
    int32_t n = 0;
    if (t->rest_at >= 0 && e->n_rest == CLV_RANK_UNKNOWN)
        return clv_rule_set(r, 0, dtype, CLV_RANK_UNKNOWN, NULL);
    for (int32_t i = 0; i <= t->n; i++) {
        for (int32_t j = 0; i == t->rest_at && j < e->n_rest; j++)
            dims[n++] = e->rest[j];
        if (i == t->n)
            break;
        if (e->count[(int)t->label[i]] == 0)
            return clv_rule_fail(r, "label '%c' of the output is in no operand", t->label[i]);
        dims[n++] = e->dim[(int)t->label[i]];
    }
    return clv_rule_set(r, 0, dtype, n, dims);
}

static int32_t find_arrow(clv_str text)
{
    for (int32_t i = 0; i + 1 < text.n; i++)
        if (text.at[i] == '-' && text.at[i + 1] == '>')
            return i;
    return -1;
}

clv_status clv_shape_einsum(clv_rule *r)
{
    clv_str equation = clv_rule_attr_str(r, "equation", "");
    int32_t arrow = find_arrow(equation);
    einsum e = { .n_rest = 0 };
    term output;
    CLV_TRY(join_operands(r, &e, (clv_str){ equation.at, arrow < 0 ? equation.n : arrow }));
    if (arrow < 0)
        implicit_output(&e, &output);
    else
        CLV_TRY(
            read_term(r, (clv_str){ equation.at + arrow + 2, equation.n - arrow - 2 }, &output));
    return set_output(r, &e, &output);
}
