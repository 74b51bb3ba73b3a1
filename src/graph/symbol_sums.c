#include "graph/symbol_sums.h"

#include "graph/dims.h"

/* Real models have a handful; a file that is made to grow stops here. */
#define SUMS_MAX 10000

clv_status clv_symbol_sums_init(clv_symbol_sums *sums, const clv_model *model, clv_arena *arena,
                                clv_error *err)
{
    *sums = (clv_symbol_sums){ .model = model, .arena = arena };
    return clv_map_init(&sums->ids, arena, 0, err);
}

bool clv_symbol_sum_of(const clv_symbol_sums *sums, clv_dim d, clv_symbol_sum *ret)
{
    *ret = (clv_symbol_sum){ .n = 0 };
    if (clv_dim_is_number(d)) {
        ret->constant = d;
        return true;
    }
    if (!clv_dim_is_symbol(d))
        return false;
    int32_t id = clv_dim_symbol_id(d), n_symbols = sums->model->n_symbols;
    if (id >= n_symbols + sums->n)
        return false;
    if (id >= n_symbols)
        *ret = sums->at[id - n_symbols];
    else
        *ret = (clv_symbol_sum){ .n = 1, .symbol = { id }, .factor = { 1 } };
    return true;
}

/* Adds factor * symbol. */
static bool add_term(clv_symbol_sum *sum, int64_t symbol, int64_t factor)
{
    int64_t i = 0;
    while (i < sum->n && sum->symbol[i] != symbol)
        i++;
    if (i == CLV_SUM_TERMS || __builtin_add_overflow(sum->factor[i], factor, &sum->factor[i]))
        return false;
    sum->symbol[i] = symbol;
    sum->n += i == sum->n;
    if (sum->factor[i] != 0)
        return true;
    sum->n--;
    for (; i < CLV_SUM_TERMS; i++) {
        sum->symbol[i] = i < sum->n ? sum->symbol[i + 1] : 0;
        sum->factor[i] = i < sum->n ? sum->factor[i + 1] : 0;
    }
    return true;
}

/* a + sign * b. */
static bool combine(const clv_symbol_sum *a, const clv_symbol_sum *b, int64_t sign,
                    clv_symbol_sum *ret)
{
    clv_symbol_sum sum = *a;
    int64_t by;
    if (__builtin_mul_overflow(b->constant, sign, &by) ||
        __builtin_add_overflow(a->constant, by, &sum.constant))
        return false;
    for (int64_t i = 0; i < b->n; i++)
        if (__builtin_mul_overflow(b->factor[i], sign, &by) || !add_term(&sum, b->symbol[i], by))
            return false;
    *ret = sum;
    return true;
}

/* By symbol, so that equal sums are equal bytes. */
static clv_symbol_sum sorted(const clv_symbol_sum *sum)
{
    clv_symbol_sum key = *sum;
    for (int64_t i = 1; i < key.n; i++)
        for (int64_t j = i; j > 0 && key.symbol[j - 1] > key.symbol[j]; j--) {
            int64_t symbol = key.symbol[j], factor = key.factor[j];
            key.symbol[j] = key.symbol[j - 1];
            key.factor[j] = key.factor[j - 1];
            key.symbol[j - 1] = symbol;
            key.factor[j - 1] = factor;
        }
    return key;
}

bool clv_symbol_sum_less(const clv_symbol_sum *a, const clv_symbol_sum *b, clv_symbol_sum *ret)
{
    return combine(a, b, -1, ret);
}

clv_dim clv_symbol_sums_dim(clv_symbol_sums *sums, const clv_symbol_sum *sum)
{
    int32_t id, n_symbols = sums->model->n_symbols;
    if (sum->n == 0)
        return clv_dim_is_number(sum->constant) ? sum->constant : CLV_DIM_UNKNOWN;
    if (sum->constant < 0)
        return CLV_DIM_UNKNOWN;
    for (int64_t i = 0; i < sum->n; i++)
        if (sum->factor[i] < 0)
            return CLV_DIM_UNKNOWN;
    if (sum->n == 1 && sum->factor[0] == 1 && sum->constant == 0)
        return clv_dim_symbol((int32_t)sum->symbol[0]);
    if (sums->n == SUMS_MAX || n_symbols > INT32_MAX - SUMS_MAX - 1)
        return CLV_DIM_UNKNOWN;
    clv_symbol_sum key = sorted(sum);
    if (!CLV_PUSH_ROOM(sums->arena, sums->at, sums->n, sums->cap) ||
        clv_map_put_key(&sums->ids, &key, sizeof key, sums->n, &id, NULL) != CLV_OK) {
        sums->failed = true;
        return CLV_DIM_UNKNOWN;
    }
    if (id == sums->n)
        sums->at[sums->n++] = *sum;
    return clv_dim_symbol(n_symbols + id);
}

static clv_dim combine_dims(clv_symbol_sums *sums, clv_dim a, clv_dim b, int64_t sign)
{
    clv_symbol_sum of_a, of_b, sum;
    if (!sums || !clv_symbol_sum_of(sums, a, &of_a) || !clv_symbol_sum_of(sums, b, &of_b) ||
        !combine(&of_a, &of_b, sign, &sum))
        return CLV_DIM_UNKNOWN;
    return clv_symbol_sums_dim(sums, &sum);
}

clv_dim clv_symbol_sums_add(clv_symbol_sums *sums, clv_dim a, clv_dim b)
{
    clv_dim sum = clv_dim_add(a, b);
    bool numbers = clv_dim_is_number(a) && clv_dim_is_number(b);
    return sum != CLV_DIM_UNKNOWN || numbers ? sum : combine_dims(sums, a, b, 1);
}

clv_dim clv_symbol_sums_sub(clv_symbol_sums *sums, clv_dim a, clv_dim b)
{
    clv_dim rest = clv_dim_sub(a, b);
    bool numbers = clv_dim_is_number(a) && clv_dim_is_number(b);
    return rest != CLV_DIM_UNKNOWN || numbers ? rest : combine_dims(sums, a, b, -1);
}
