#include "rules/split_reasons.h"

#include <stdio.h>

#define REASON(...) (snprintf(buf, CLV_SPLIT_REASON, __VA_ARGS__), buf)

const char *clv_why_factor_is_whole(const clv_factors *f, clv_str type, int32_t factor,
                                    int64_t parts, char buf[static CLV_SPLIT_REASON])
{
    const clv_factor *one = &f->factors[factor];
    int64_t granule = one->granule > 1 ? one->granule : 1;
    if (one->kind == CLV_FACTOR_WHOLE)
        return REASON("the factor '%s' of %.*s must be whole", one->name, CLV_STR_ARG(type));
    if (one->kind == CLV_FACTOR_HALO)
        return REASON("parts of the factor '%s' of %.*s need the borders of their neighbours",
                      one->name, CLV_STR_ARG(type));
    if (one->size < 0)
        return REASON("the size of the factor '%s' of %.*s is not known", one->name,
                      CLV_STR_ARG(type));
    if (one->size / granule < parts && granule > 1)
        return REASON(
            "the factor '%s' of %.*s has %lld blocks of %lld elements, fewer than %lld parts",
            one->name, CLV_STR_ARG(type), (long long)(one->size / granule), (long long)granule,
            (long long)parts);
    if (one->size < parts)
        return REASON("the factor '%s' of %.*s has %lld elements, fewer than %lld parts", one->name,
                      CLV_STR_ARG(type), (long long)one->size, (long long)parts);
    if (one->size % granule == 0 && one->size / granule % parts == 0)
        return REASON("the rule of %.*s does not allow it", CLV_STR_ARG(type));
    return REASON(
        "the factor '%s' of %.*s has %lld elements and must be split evenly, not into %lld "
        "parts",
        one->name, CLV_STR_ARG(type), (long long)one->size, (long long)parts);
}

const char *clv_why_dim_is_whole(const clv_factors *f, clv_str type,
                                 const clv_operand_factors *operand, int32_t dim, int64_t parts,
                                 char buf[static CLV_SPLIT_REASON])
{
    if (f->why_whole)
        return REASON("%s", f->why_whole);
    if (!operand || dim >= operand->rank || operand->dims[dim].n == 0)
        return REASON("%.*s has that dimension whole on every device", CLV_STR_ARG(type));
    const clv_dim_factors *d = &operand->dims[dim];
    int32_t i = 0; /* the outermost that is more than one element */
    while (i + 1 < d->n && f->factors[d->at[i]].size == 1)
        i++;
    return clv_why_factor_is_whole(f, type, d->at[i], parts, buf);
}

const char *clv_list_factors(const clv_factors *f, char buf[static CLV_SPLIT_REASON])
{
    size_t n = 0;
    buf[0] = '\0';
    for (int32_t i = 0; i < f->n_factors && n < CLV_SPLIT_REASON; i++)
        n += (size_t)snprintf(buf + n, CLV_SPLIT_REASON - n, "%s'%s'", i ? ", " : "",
                              f->factors[i].name);
    return buf;
}
