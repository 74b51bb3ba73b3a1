/* str.h - a read-only run of characters that somebody else owns. Not NUL-terminated.
 *
 * Names in a model stay where the model's bytes are; a million of them cost no copy.
 */
#ifndef CLV_BASE_STR_H
#define CLV_BASE_STR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *at;
    int32_t n;
} clv_str;

/* printf("%.*s", CLV_STR_ARG(s)) */
#define CLV_STR_ARG(s) (int)(s).n, (s).n ? (s).at : ""

/* Of a C string; NULL is empty. */
static inline clv_str clv_str_of(const char *z)
{
    return (clv_str){ z, z ? (int32_t)strlen(z) : 0 };
}

static inline bool clv_str_eq(clv_str a, clv_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, (size_t)a.n) == 0);
}

static inline bool clv_str_is(clv_str a, const char *z) { return clv_str_eq(a, clv_str_of(z)); }

/* Byte order; shorter first on a tie. */
static inline int clv_str_cmp(clv_str a, clv_str b)
{
    int32_t n = a.n < b.n ? a.n : b.n;
    int d = n ? memcmp(a.at, b.at, (size_t)n) : 0;
    return d ? d : (a.n > b.n) - (a.n < b.n);
}

#endif
