/* union_find.h - disjoint sets as trees in one array: union-find with path halving (Tarjan and van
 * Leeuwen 1984). */
#ifndef CLV_BASE_UNION_FIND_H
#define CLV_BASE_UNION_FIND_H

#include <stdint.h>

/* The root of the set of i: its parent[] is itself, that of any other member is a member nearer to
 * the root. parent[root of a] = root of b makes the sets of a and b one. Amortised O(log n). */
static inline int32_t clv_find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

#endif
