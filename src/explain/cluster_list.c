#include "explain/cluster_list.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    const clv_described_kind *x = *(const clv_described_kind *const *)a;
    const clv_described_kind *y = *(const clv_described_kind *const *)b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = strcmp(x->file ? x->file : "", y->file ? y->file : "");
    return order ? order : (x > y) - (x < y);
}

const clv_described_kind **clv_cluster_list_kinds(const clv_cluster_list *list, clv_arena *arena,
                                                  int32_t *ret_n)
{
    int32_t all = 0, n = 0;
    for (int32_t i = 0; i < list->n; i++)
        all += list->at[i].n_kinds;
    const clv_described_kind **at = CLV_NEW_ARRAY(arena, const clv_described_kind *, all);
    if (!at)
        return NULL;
    all = 0;
    for (int32_t i = 0; i < list->n; i++)
        for (int32_t k = 0; k < list->at[i].n_kinds; k++)
            at[all++] = &list->at[i].kinds[k];
    if (all > 0)
        qsort(at, (size_t)all, sizeof(const clv_described_kind *), by_name);
    for (int32_t i = 0; i < all; i++) {
        const char *file = at[i]->file;
        if (n == 0 || !file || !at[n - 1]->file || strcmp(at[n - 1]->file, file) != 0)
            at[n++] = at[i];
    }
    *ret_n = n;
    return at;
}

double clv_kind_matrix_peak(const clv_device_kind *kind, int bits)
{
    double most = 0;
    for (int t = 0; t < CLV_N_DTYPES; t++)
        if (clv_dtype_bits((clv_dtype)t) == bits && kind->matrix_per_s[t] > most)
            most = kind->matrix_per_s[t];
    return most;
}
