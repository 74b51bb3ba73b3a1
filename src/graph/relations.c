#include "graph/relations.h"

#include <inttypes.h>

/* More than any model has; a file that is made to grow stops here. */
#define RELATIONS_MAX 10000

clv_status clv_relations_new(const clv_model *model, clv_arena *arena, clv_relations **ret,
                             clv_error *err)
{
    clv_relations *relations = CLV_NEW(arena, clv_relations);
    if (!relations)
        return clv_fail_nomem(err, "relations of symbols");
    CLV_TRY(clv_symbol_sums_init(&relations->sums, model, arena, err));
    CLV_TRY(clv_map_init(&relations->ids, arena, 0, err));
    *ret = relations;
    return CLV_OK;
}

/* -- finding them -- */

static void put(clv_relations *r, const clv_relation *relation)
{
    int32_t id;
    if (r->n == RELATIONS_MAX)
        return;
    if (!CLV_PUSH_ROOM(r->sums.arena, r->at, r->n, r->cap) ||
        clv_map_put_key(&r->ids, relation, sizeof *relation, r->n, &id, NULL) != CLV_OK)
        r->failed = true;
    else if (id == r->n)
        r->at[r->n++] = *relation;
}

static bool is_one_symbol(const clv_symbol_sum *s)
{
    return s->n == 1 && s->factor[0] == 1 && s->constant == 0;
}

/* Which side comes first: one symbol, the later of two, else fewer terms; a number never. */
static bool goes_left(const clv_symbol_sum *a, const clv_symbol_sum *b)
{
    if (a->n == 0 || b->n == 0)
        return b->n == 0;
    if (is_one_symbol(a) != is_one_symbol(b))
        return is_one_symbol(a);
    return is_one_symbol(a) ? a->symbol[0] > b->symbol[0] : a->n <= b->n;
}

/* The sides of a = b, without what both have. False where that says nothing of sizes, which are at
 * least 1. */
static bool set_sides(clv_relations *r, clv_dim a, clv_dim b, clv_relation *ret)
{
    clv_symbol_sum of_a, of_b, rest, side[2] = { { .n = 0 }, { .n = 0 } };
    if (!clv_symbol_sum_of(&r->sums, a, &of_a) || !clv_symbol_sum_of(&r->sums, b, &of_b) ||
        !clv_symbol_sum_less(&of_a, &of_b, &rest))
        return false;
    for (int64_t i = 0; i < rest.n; i++) {
        clv_symbol_sum *s = &side[rest.factor[i] < 0];
        s->symbol[s->n] = rest.symbol[i];
        s->factor[s->n++] = rest.factor[i] < 0 ? -rest.factor[i] : rest.factor[i];
    }
    side[rest.constant < 0].constant = rest.constant < 0 ? -rest.constant : rest.constant;
    for (int32_t k = 0; k < 2; k++)
        if (side[k].n == 0 && side[k].constant == 0)
            return false;
    int32_t first = goes_left(&side[0], &side[1]) ? 0 : 1;
    ret->left = clv_symbol_sums_dim(&r->sums, &side[first]);
    ret->right = clv_symbol_sums_dim(&r->sums, &side[1 - first]);
    return ret->left != CLV_DIM_UNKNOWN && ret->right != CLV_DIM_UNKNOWN;
}

void clv_relate(clv_relations *relations, clv_dim a, clv_dim b)
{
    clv_relation relation = { .past = CLV_DIM_UNKNOWN, .added = CLV_DIM_UNKNOWN };
    if (!relations || a == CLV_DIM_UNKNOWN || b == CLV_DIM_UNKNOWN || a == b)
        return;
    if (clv_dim_is_number(a) && clv_dim_is_number(b))
        relations->disagree = true;
    else if (set_sides(relations, a, b, &relation))
        put(relations, &relation);
}

void clv_relate_cache(clv_relations *relations, clv_dim total, clv_dim past, clv_dim added)
{
    clv_relation relation = { .past = past, .added = added };
    if (!relations)
        return;
    clv_dim all = clv_symbol_sums_add(&relations->sums, past, added);
    if (clv_dim_is_number(total) && clv_dim_is_number(past) && clv_dim_is_number(added))
        relations->disagree |= total != all && (total < added || total > past);
    else if (clv_dim_is_symbol(total) && clv_dim_is_symbol(past) && clv_dim_is_symbol(added) &&
             set_sides(relations, total, all, &relation) && relation.left == total)
        put(relations, &relation);
}

/* -- showing them -- */

/* Quoted, where it would read as a sum itself. */
static size_t add_name(char *buf, size_t size, size_t n, clv_str symbol)
{
    bool blank = symbol.n > 0 && memchr(symbol.at, ' ', (size_t)symbol.n) != NULL;
    return clv_add_words(buf, size, n, blank ? "'%.*s'" : "%.*s", CLV_STR_ARG(symbol));
}

size_t clv_add_dim_words(char *buf, size_t size, size_t n, const clv_symbol_sums *sums, clv_dim d,
                         const int64_t *sizes)
{
    clv_symbol_sum sum;
    if (!clv_symbol_sum_of(sums, d, &sum))
        return clv_add_words(buf, size, n, "?");
    for (int64_t i = 0; i < sum.n; i++) {
        int64_t known = sizes ? sizes[sum.symbol[i]] : 0;
        n = clv_add_words(buf, size, n, i ? " + " : "");
        if (sum.factor[i] != 1)
            n = clv_add_words(buf, size, n, "%" PRId64 " * ", sum.factor[i]);
        n = add_name(buf, size, n, sums->model->symbols[sum.symbol[i]]);
        if (known > 0)
            n = clv_add_words(buf, size, n, "=%" PRId64, known);
    }
    if (sum.constant != 0 || sum.n == 0)
        n = clv_add_words(buf, size, n, "%s%" PRId64, sum.n ? " + " : "", sum.constant);
    return n;
}

const char *clv_relation_show(const clv_relations *relations, const clv_relation *relation,
                              char *buf, size_t size)
{
    const clv_symbol_sums *sums = &relations->sums;
    size_t n = clv_add_dim_words(buf, size, 0, sums, relation->left, NULL);
    n = clv_add_words(buf, size, n, " = ");
    n = clv_add_dim_words(buf, size, n, sums, relation->right, NULL);
    if (relation->past != CLV_DIM_UNKNOWN) {
        n = clv_add_words(buf, size, n, ", or at most ");
        n = clv_add_dim_words(buf, size, n, sums, relation->past, NULL);
        clv_add_words(buf, size, n, " where past and present share a buffer");
    }
    return buf;
}
