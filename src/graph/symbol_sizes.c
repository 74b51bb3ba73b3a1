#include "graph/symbol_sizes.h"

#include <inttypes.h>

#define SHOWN 200 /* characters of a side */

static clv_symbol_sum sum_of(const clv_symbol_sizes *s, clv_dim d)
{
    clv_symbol_sum sum;
    (void)clv_symbol_sum_of(&s->relations->sums, d, &sum);
    return sum;
}

static int32_t n_relations(const clv_symbol_sizes *s) { return s->relations ? s->relations->n : 0; }

/* Lists of relations by symbol, one after another: counted, then filled. */
static clv_status index_relations(clv_symbol_sizes *s, clv_arena *arena, clv_error *err)
{
    int32_t n_symbols = s->model->n_symbols, n_terms = 0;
    s->first_of = CLV_NEW_ARRAY(arena, int32_t, (size_t)n_symbols + 2);
    if (!s->first_of)
        return clv_fail_nomem(err, "sizes of symbols");
    for (int32_t i = 0; i < n_relations(s); i++)
        for (int32_t k = 0; k < 2; k++) {
            const clv_relation *r = &s->relations->at[i];
            clv_symbol_sum sum = sum_of(s, k ? r->right : r->left);
            s->n_open[i] += (int32_t)sum.n;
            n_terms += (int32_t)sum.n;
            for (int64_t t = 0; t < sum.n; t++)
                s->first_of[sum.symbol[t] + 2]++;
        }
    s->of_symbol = CLV_NEW_ARRAY(arena, int32_t, n_terms);
    if (!s->of_symbol)
        return clv_fail_nomem(err, "sizes of symbols");
    for (int32_t i = 0; i < n_symbols; i++)
        s->first_of[i + 2] += s->first_of[i + 1];
    for (int32_t i = 0; i < n_relations(s); i++)
        for (int32_t k = 0; k < 2; k++) {
            const clv_relation *r = &s->relations->at[i];
            clv_symbol_sum sum = sum_of(s, k ? r->right : r->left);
            for (int64_t t = 0; t < sum.n; t++)
                s->of_symbol[s->first_of[sum.symbol[t] + 1]++] = i;
        }
    return CLV_OK;
}

clv_status clv_symbol_sizes_new(const clv_model *model, const clv_relations *relations,
                                clv_arena *arena, clv_symbol_sizes **ret, clv_error *err)
{
    clv_symbol_sizes *s = CLV_NEW(arena, clv_symbol_sizes);
    if (!s)
        return clv_fail_nomem(err, "sizes of symbols");
    *s = (clv_symbol_sizes){ .model = model, .relations = relations };
    s->size = CLV_NEW_ARRAY(arena, int64_t, model->n_symbols);
    s->from = CLV_NEW_ARRAY(arena, int32_t, model->n_symbols);
    s->n_open = CLV_NEW_ARRAY(arena, int32_t, n_relations(s));
    s->queue = CLV_NEW_ARRAY(arena, int32_t, 2 * (size_t)n_relations(s));
    if (!s->size || !s->from || !s->n_open || !s->queue)
        return clv_fail_nomem(err, "sizes of symbols");
    for (int32_t i = 0; i < model->n_symbols; i++)
        s->from[i] = CLV_FROM_NOTHING;
    CLV_TRY(index_relations(s, arena, err));
    for (int32_t i = 0; i < n_relations(s); i++)
        if (s->n_open[i] == 1)
            s->queue[s->n_queued++] = i;
    *ret = s;
    return CLV_OK;
}

/* A relation is queued when one symbol is left, and when none is: twice at most. */
void clv_symbol_sizes_give(clv_symbol_sizes *s, int32_t symbol, int64_t size)
{
    s->size[symbol] = size;
    for (int32_t k = s->first_of[symbol]; k < s->first_of[symbol + 1]; k++)
        if (--s->n_open[s->of_symbol[k]] <= 1)
            s->queue[s->n_queued++] = s->of_symbol[k];
}

/* -- one relation -- */

/* What its sides come to, but for the one open symbol. */
typedef struct {
    int64_t left, right;
    int32_t open;   /* the open symbol; -1: none */
    int64_t factor; /* of it: negative where it is on the left */
    bool any;       /* a size is not known yet */
} balance;

static bool add_side(const clv_symbol_sizes *s, clv_dim d, bool right, balance *b)
{
    clv_symbol_sum sum = sum_of(s, d);
    int64_t *total = right ? &b->right : &b->left, by;
    *total = sum.constant;
    for (int64_t t = 0; t < sum.n; t++) {
        int64_t size = s->size[sum.symbol[t]];
        b->any |= size == CLV_SIZE_ANY;
        if (size == CLV_SIZE_OPEN) {
            b->open = (int32_t)sum.symbol[t];
            b->factor = right ? sum.factor[t] : -sum.factor[t];
        } else if (size > 0 && (__builtin_mul_overflow(sum.factor[t], size, &by) ||
                                __builtin_add_overflow(*total, by, total))) {
            return false;
        }
    }
    return true;
}

/* "left contradicts right", as far as sizes are known. Returns the length. */
static size_t begin_sentence(const clv_symbol_sizes *s, const clv_relation *r, char *buf,
                             size_t size)
{
    const clv_symbol_sums *sums = &s->relations->sums;
    size_t n = clv_add_dim_words(buf, size, 0, sums, r->left, s->size);
    n = clv_add_words(buf, size, n, " contradicts ");
    if (clv_dim_is_number(r->right))
        return clv_add_words(buf, size, n, "operators that read it");
    return clv_add_dim_words(buf, size, n, sums, r->right, s->size);
}

/* "; b=3 follows from a + 1" for each size of the relation that was not given. */
static void add_origins(const clv_symbol_sizes *s, const clv_relation *r, char *buf, size_t size,
                        size_t n)
{
    char origin[SHOWN];
    for (int32_t k = 0; k < 2; k++) {
        clv_symbol_sum sum = sum_of(s, k ? r->right : r->left);
        for (int64_t t = 0; t < sum.n; t++)
            if (s->size[sum.symbol[t]] > 0 && s->from[sum.symbol[t]] >= 0)
                n = clv_add_words(
                    buf, size, n, "; %.*s=%" PRId64 " follows from %s",
                    CLV_STR_ARG(s->model->symbols[sum.symbol[t]]), s->size[sum.symbol[t]],
                    clv_symbol_size_origin(s, (int32_t)sum.symbol[t], origin, sizeof origin));
    }
}

static clv_status fail_overflow(const clv_symbol_sizes *s, const clv_relation *r, clv_error *err)
{
    char text[CLV_MESSAGE_SIZE];
    begin_sentence(s, r, text, sizeof text);
    return clv_fail(err, CLV_EFORMAT, "%s: more than 64 bits hold", text);
}

/* The number that a cache whose past and present share a buffer may have instead. */
static bool fits_buffer(const clv_symbol_sizes *s, const clv_relation *r, balance *past,
                        balance *added)
{
    *past = *added = (balance){ .open = -1 };
    return r->past != CLV_DIM_UNKNOWN && add_side(s, r->past, false, past) &&
           add_side(s, r->added, false, added) && added->left <= past->left;
}

static clv_status check(const clv_symbol_sizes *s, const clv_relation *r, const balance *b,
                        clv_error *err)
{
    char text[CLV_MESSAGE_SIZE];
    balance past, added;
    bool buffer = fits_buffer(s, r, &past, &added);
    if (b->left == b->right || (buffer && b->left >= added.left && b->left <= past.left))
        return CLV_OK;
    size_t n = begin_sentence(s, r, text, sizeof text);
    if (clv_dim_symbol_id(r->left) < s->model->n_symbols)
        n = clv_add_words(text, sizeof text, n, ": expected %" PRId64, b->right);
    else
        n = clv_add_words(text, sizeof text, n, ": %" PRId64 " is not %" PRId64, b->left, b->right);
    if (buffer)
        n = clv_add_words(text, sizeof text, n,
                          ", or %" PRId64 " to %" PRId64 " where past and present share a buffer",
                          added.left, past.left);
    add_origins(s, r, text, sizeof text, n);
    return clv_fail(err, CLV_EFORMAT, "%s", text);
}

/* left - right = factor * the open symbol; no side is negative. */
static clv_status solve(clv_symbol_sizes *s, int32_t relation, const balance *b, clv_error *err)
{
    const clv_relation *r = &s->relations->at[relation];
    char text[CLV_MESSAGE_SIZE];
    int64_t rest = b->factor < 0 ? b->right - b->left : b->left - b->right;
    int64_t factor = b->factor < 0 ? -b->factor : b->factor;
    if (rest > 0 && rest % factor == 0) {
        s->from[b->open] = relation;
        clv_symbol_sizes_give(s, b->open, rest / factor);
        return CLV_OK;
    }
    if (r->past != CLV_DIM_UNKNOWN) /* then they share a buffer, and it may have any size */
        return CLV_OK;
    size_t n = begin_sentence(s, r, text, sizeof text);
    n = clv_add_words(text, sizeof text, n, ": %.*s would be %" PRId64,
                      CLV_STR_ARG(s->model->symbols[b->open]), rest / factor);
    if (rest % factor != 0)
        n = clv_add_words(text, sizeof text, n, " and %" PRId64 "/%" PRId64, rest % factor, factor);
    n = clv_add_words(text, sizeof text, n, ", expected a whole number of at least 1");
    add_origins(s, r, text, sizeof text, n);
    return clv_fail(err, CLV_EFORMAT, "%s", text);
}

static clv_status take(clv_symbol_sizes *s, int32_t relation, clv_error *err)
{
    const clv_relation *r = &s->relations->at[relation];
    balance b = { .open = -1 };
    bool fits = add_side(s, r->left, false, &b) && add_side(s, r->right, true, &b);
    if (b.any) {
        /* With a buffer only the sum of both surely follows. */
        if (b.open >= 0 && (r->past == CLV_DIM_UNKNOWN || b.factor < 0)) {
            s->from[b.open] = relation;
            clv_symbol_sizes_give(s, b.open, CLV_SIZE_ANY);
        }
        return CLV_OK;
    }
    if (!fits)
        return fail_overflow(s, r, err);
    return b.open < 0 ? check(s, r, &b, err) : solve(s, relation, &b, err);
}

clv_status clv_symbol_sizes_follow(clv_symbol_sizes *s, clv_error *err)
{
    while (s->n_done < s->n_queued)
        CLV_TRY(take(s, s->queue[s->n_done++], err));
    return CLV_OK;
}

const char *clv_symbol_size_origin(const clv_symbol_sizes *s, int32_t symbol, char *buf,
                                   size_t size)
{
    const clv_relation *r = &s->relations->at[s->from[symbol]];
    const clv_symbol_sums *sums = &s->relations->sums;
    size_t n = 0;
    if (clv_dim_is_number(r->right))
        n = clv_add_words(buf, size, n, "operators that read it");
    else if (r->left != clv_dim_symbol(symbol)) {
        n = clv_add_dim_words(buf, size, n, sums, r->left, NULL);
        n = clv_add_words(buf, size, n, " = ");
    }
    if (!clv_dim_is_number(r->right))
        clv_add_dim_words(buf, size, n, sums, r->right, NULL);
    return buf;
}
