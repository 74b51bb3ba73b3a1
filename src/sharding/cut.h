/* cut.h - a dimension cut into parts that need not be equal. */
#ifndef CLV_SHARDING_CUT_H
#define CLV_SHARDING_CUT_H

#include <stdint.h>

#include "base/status.h"

/* What to do when the shards of an axis do not divide it (left to the backend by the multi-device
 * proposal). */
typedef enum {
    CLV_UNEVEN_REFUSE,
    CLV_UNEVEN_CEIL,    /* ceil(size / shards) each, the last ones smaller or empty (torch.chunk) */
    CLV_UNEVEN_BALANCED /* sizes differ by at most 1, larger ones first */
} clv_uneven_policy;

/* Part k of count of a dimension: offset and length, never beyond the end. Under
 * CLV_UNEVEN_REFUSE as under CLV_UNEVEN_CEIL, for whoever refuses does so before. O(1). */
void clv_cut(int64_t size, int64_t count, int64_t k, clv_uneven_policy policy, int64_t *ret_offset,
             int64_t *ret_size);

/* Part k of count when parts are to have the proportions of share[0], share[1], ..., all positive,
 * their sum below 2^63: each is within one element of its due. Shares that add up to size are the
 * parts themselves. O(count). */
void clv_cut_shares(int64_t size, int64_t count, int64_t k, const int64_t *share,
                    int64_t *ret_offset, int64_t *ret_size);

/* Sizes of parts given by hand for a dimension: as many as parts, none negative, and adding up to
 * the dimension. CLV_EUSAGE names what is wrong; what names the tensor or dimension. O(n). */
clv_status clv_cut_check_sizes(const int64_t *size, int32_t n, int64_t parts, int64_t dim,
                               const char *what, clv_error *err);

#endif
