/* root.h - sets that grow together, as trees in one array: union-find. */
#ifndef CLV_BASE_ROOT_H
#define CLV_BASE_ROOT_H

#include <stdint.h>

/* The member that stands for the set of i: parent[i] of it is itself, of all others a member nearer
 * to it. Halves the way it goes, so that many calls are O(log n) each; sets become one by parent of
 * one root = the other. */
static inline int32_t clv_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

#endif
