#include "sharding/cut.h"

#include <inttypes.h>

#include "base/int128.h"

void clv_cut(int64_t size, int64_t count, int64_t k, clv_uneven_policy policy, int64_t *ret_offset,
             int64_t *ret_size)
{
    int64_t width = size / count, longer = size % count;

    if (policy == CLV_UNEVEN_BALANCED || longer == 0) {
        *ret_offset = k * width + (k < longer ? k : longer);
        *ret_size = width + (k < longer);
        return;
    }
    width++;
    *ret_offset = k > size / width ? size : k * width;
    *ret_size = size - *ret_offset < width ? size - *ret_offset : width;
}

void clv_cut_shares(int64_t size, int64_t count, int64_t k, const int64_t *share,
                    int64_t *ret_offset, int64_t *ret_size)
{
    clv_int128 before = 0, total = 0;

    for (int64_t i = 0; i < count; i++) {
        before += i < k ? share[i] : 0;
        total += share[i];
    }
    *ret_offset = (int64_t)(before * size / total);
    *ret_size = (int64_t)((before + share[k]) * size / total) - *ret_offset;
}

clv_status clv_cut_check_sizes(const int64_t *size, int32_t n, int64_t parts, int64_t dim,
                               const char *what, clv_error *err)
{
    clv_int128 sum = 0;

    if (n != parts)
        return clv_fail(err, CLV_EUSAGE,
                        "%.200s: %" PRId32 " sizes are given for %" PRId64 " parts", what, n,
                        parts);
    for (int32_t i = 0; i < n; i++) {
        if (size[i] < 0)
            return clv_fail(err, CLV_EUSAGE,
                            "%.200s: size %" PRId32 " is %" PRId64 ", expected at least 0", what, i,
                            size[i]);
        sum += size[i];
    }
    if (sum != dim)
        return clv_fail(err, CLV_EUSAGE,
                        "%.200s: the sizes add up to %.0f, the dimension is %" PRId64, what,
                        (double)sum, dim);
    return CLV_OK;
}
