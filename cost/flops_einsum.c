/* flops_einsum.c - a label is a bit: 52 letters in one word, the axes of "..." counted from the
 * right in another. Operands are joined from left to right; a join runs over all labels of both,
 * and keeps those that the result or a later operand still needs.
 */
#include "cost/flops_einsum.h"

typedef struct {
    uint64_t letters, dots;
} labels;

typedef struct {
    clv_sizing *s;
    clv_str text; /* what is left to read */
    int64_t letter[52], dot[CLV_RANK_MAX];
} equation;

static int letter_bit(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    return c >= 'A' && c <= 'Z' ? 26 + c - 'A' : -1;
}

/* The characters before the next ',' or '->', which is taken too. */
static clv_str next_term(equation *e)
{
    clv_str term = { e->text.at, 0 };
    while (term.n < e->text.n && term.at[term.n] != ',' && term.at[term.n] != '-')
        term.n++;
    int32_t skip = term.n < e->text.n ? term.n + 1 : term.n;
    e->text = (clv_str){ e->text.at + skip, e->text.n - skip };
    return term;
}

/* A broadcast axis has the longer of its lengths. */
static void widen(equation *e, int64_t *at, clv_dim dim)
{
    int64_t n = clv_size_of_dim(e->s, dim);
    *at = n > *at || *at < 0 ? n : *at;
}

/* Labels of a term; with an operand behind it the lengths are noted. */
static labels read_term(equation *e, clv_str term, const clv_type *operand)
{
    labels found = { 0, 0 };
    int32_t rank = operand ? clv_type_rank(operand) : 0, axis = 0;
    int32_t dots = rank; /* axes that have no letter */
    for (int32_t i = 0; i < term.n; i++)
        dots -= letter_bit(term.at[i]) >= 0;
    for (int32_t i = 0; i < term.n; i++) {
        int bit = letter_bit(term.at[i]);
        if (bit >= 0) {
            found.letters |= UINT64_C(1) << bit;
            if (operand)
                widen(e, &e->letter[bit], clv_type_dim(operand, axis++));
        } else if (operand && term.at[i] == '.') {
            for (; dots > 0; dots--, axis++) {
                found.dots |= UINT64_C(1) << (dots - 1);
                widen(e, &e->dot[dots - 1], clv_type_dim(operand, axis));
            }
        }
    }
    return found;
}

static int64_t product(equation *e, labels l)
{
    int64_t n = 1;
    for (int i = 0; i < 52; i++)
        if (l.letters >> i & 1)
            n = clv_size_mul(e->s, n, e->letter[i]);
    for (int i = 0; i < CLV_RANK_MAX; i++)
        if (l.dots >> i & 1)
            n = clv_size_mul(e->s, n, e->dot[i]);
    return n;
}

/* Labels of the result. Where it is not written: the letters that occur once. */
static labels result_labels(equation *e, clv_str equation_text, labels all)
{
    labels kept = { 0, all.dots };
    uint64_t seen = 0;
    for (int32_t i = 0; i + 1 < equation_text.n; i++)
        if (equation_text.at[i] == '-' && equation_text.at[i + 1] == '>') {
            clv_str out = { equation_text.at + i + 2, equation_text.n - i - 2 };
            kept.letters = read_term(e, out, NULL).letters;
            return kept;
        }
    for (int32_t i = 0; i < equation_text.n; i++) {
        int bit = letter_bit(equation_text.at[i]);
        uint64_t mask = bit < 0 ? 0 : UINT64_C(1) << bit;
        kept.letters = (kept.letters & ~mask) | (mask & ~seen);
        seen |= mask;
    }
    return kept;
}

/* Multiplies the operands into one another. After each join, a label that neither the result nor
 * a later operand has is summed away. */
static int64_t join(equation *e, const labels *operand, int32_t n, labels result)
{
    int64_t flops = 0;
    labels now = operand[0];
    for (int32_t k = 1; k < n; k++) {
        labels needed = result;
        for (int32_t later = k + 1; later < n; later++) {
            needed.letters |= operand[later].letters;
            needed.dots |= operand[later].dots;
        }
        now.letters |= operand[k].letters;
        now.dots |= operand[k].dots;
        flops = clv_size_add(e->s, flops, clv_size_mul(e->s, 2, product(e, now)));
        now.letters &= needed.letters;
        now.dots &= needed.dots;
    }
    return flops;
}

/* More operands than any equation has; join() looks at all pairs of them. */
#define OPERANDS_MAX 64

clv_work clv_flops_einsum(clv_sizing *s)
{
    clv_str text = clv_rule_attr_str(&s->rule, "equation", "");
    equation e = { .s = s, .text = text };
    labels operand[OPERANDS_MAX], all = { 0, 0 };
    int32_t n = clv_rule_n_in(&s->rule);
    for (int i = 0; i < 52; i++)
        e.letter[i] = -1;
    for (int i = 0; i < CLV_RANK_MAX; i++)
        e.dot[i] = -1;
    if (n < 1 || n > OPERANDS_MAX || text.n == 0) {
        s->open = true;
        return (clv_work){ 0, 0 };
    }
    for (int32_t k = 0; k < n; k++) {
        if (!clv_type_ranked(clv_rule_in(&s->rule, k)))
            s->open = true;
        operand[k] = read_term(&e, next_term(&e), clv_rule_in(&s->rule, k));
        all.letters |= operand[k].letters;
        all.dots |= operand[k].dots;
    }
    if (s->open)
        return (clv_work){ 0, 0 };
    labels result = result_labels(&e, text, all);
    if (n > 1)
        return (clv_work){ .matrix = join(&e, operand, n, result) };
    bool sums = (all.letters & ~result.letters) != 0; /* of one operand: a transpose, or a sum */
    return (clv_work){ .vector = sums ? product(&e, all) : 0 };
}
