/* write_einsum.c - an equation is a rule already: ij,jk->ik is (i,j),(j,k)->(i,k). A label that one
 * operand has twice is its diagonal, and stays whole.
 */
#include <ctype.h>

#include "graph/shape_tools.h"
#include "sharding/writers.h"

#define N_LABELS 128 /* ASCII */

typedef struct {
    int32_t count[N_LABELS]; /* in all operands together */
    bool twice[N_LABELS];    /* in one */
    bool ellipsis;
} labels;

static bool is_label(char c) { return isascii(c) && isalpha((unsigned char)c); }

static void count_labels(clv_str inputs, labels *l)
{
    bool seen[N_LABELS] = { false };
    for (int32_t i = 0; i < inputs.n; i++) {
        char c = inputs.at[i];
        if (c == ',')
            memset(seen, 0, sizeof seen);
        l->ellipsis |= c == '.';
        if (!is_label(c))
            continue;
        l->count[(int)c]++;
        l->twice[(int)c] |= seen[(int)c];
        seen[(int)c] = true;
    }
}

/* "(i,...,k)" of one term; upper and lower case are different factors. */
static bool print_term(clv_rule_writing *t, clv_str term, const labels *l)
{
    int32_t n = 0;
    clv_rule_write(t, "(");
    for (int32_t i = 0; i < term.n; i++) {
        char c = term.at[i];
        if (c == ' ')
            continue;
        clv_rule_write(t, n++ ? "," : "");
        if (is_label(c)) {
            clv_rule_write(t, "%c%s", c, l->twice[(int)c] ? "!" : "");
        } else if (c == '.' && i + 2 < term.n && term.at[i + 1] == '.' && term.at[i + 2] == '.') {
            clv_rule_write(t, "...");
            i += 2;
        } else {
            return false;
        }
    }
    clv_rule_write(t, ")");
    return true;
}

static bool print_inputs(clv_rule_writing *t, clv_str inputs, const labels *l)
{
    int32_t from = 0;
    for (int32_t i = 0; i <= inputs.n; i++) {
        if (i < inputs.n && inputs.at[i] != ',')
            continue;
        clv_rule_write(t, from ? "," : "");
        if (!print_term(t, (clv_str){ inputs.at + from, i - from }, l))
            return false;
        from = i + 1;
    }
    clv_rule_write(t, "->");
    return true;
}

/* Without an arrow: the "...", then by letter those that occur once. */
static void print_implicit(clv_rule_writing *t, const labels *l)
{
    int32_t n = 0;
    clv_rule_write(t, "(");
    if (l->ellipsis)
        clv_rule_write(t, "%s", n++ ? "," : "...");
    for (char c = 'A'; c <= 'z'; c++)
        if (l->count[(int)c] == 1)
            clv_rule_write(t, "%s%c", n++ ? "," : "", c);
    clv_rule_write(t, ")");
}

clv_status clv_write_einsum(clv_rule_context *w, clv_str param, const char **ret)
{
    clv_str equation = clv_rule_attr_str(w->r, "equation", "");
    clv_rule_writing t = { .arena = w->r->arena };
    labels l = { .ellipsis = false };
    int32_t arrow = -1;
    (void)param;
    for (int32_t i = 0; i + 1 < equation.n && arrow < 0; i++)
        if (equation.at[i] == '-' && equation.at[i + 1] == '>')
            arrow = i;
    clv_str inputs = { equation.at, arrow < 0 ? equation.n : arrow };
    count_labels(inputs, &l);
    bool ok = equation.n > 0 && print_inputs(&t, inputs, &l);
    if (ok && arrow < 0)
        print_implicit(&t, &l);
    else if (ok)
        ok = print_term(&t, (clv_str){ equation.at + arrow + 2, equation.n - arrow - 2 }, &l);
    if (!ok)
        return clv_rule_keep_whole(w, "has an equation that is not letters and \"...\"");
    return clv_writer_done(w, &t, ret);
}
