/* spec_text.h - a sharding spec from one line of text:
 *
 *     "0*2 1*4 @ 0 1 2 3 4 5 6 7"   axis 0 in 2, axis 1 in 4
 *     "0*2 @ 0+1 2+3"               the parts on groups of devices
 *     "0*2:4,1:3 @ 0 1"             axis 0 as 4 by 3, the 4 in 2
 *     "@ 0 1"                       whole on both
 */
#ifndef CLV_TESTS_SUPPORT_SPEC_TEXT_H
#define CLV_TESTS_SUPPORT_SPEC_TEXT_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "notation/sharding_spec.h"

#define SPEC_TEXT_MAX 64 /* of anything */

static const char *spec_text_dim(const char *at, clv_arena *arena, clv_sharded_dim *ret)
{
    clv_simple_sharding *simple = CLV_NEW_ARRAY(arena, clv_simple_sharding, SPEC_TEXT_MAX);
    char *end;

    *ret = (clv_sharded_dim){ strtol(at, &end, 10), simple, 0 };
    do {
        cr_assert(*end == '*' || *end == ',', "'%s' is no spec", at);
        clv_simple_sharding *one = &simple[ret->n_simple++];
        *one = (clv_simple_sharding){ CLV_DIM_UNKNOWN, NULL, strtol(end + 1, &end, 10) };
        if (*end == ':')
            one->dim = strtol(end + 1, &end, 10);
    } while (*end == ',');
    return end;
}

static const char *spec_text_device(const char *at, clv_arena *arena, clv_sharding_spec *spec)
{
    int64_t *member = CLV_NEW_ARRAY(arena, int64_t, SPEC_TEXT_MAX);
    int32_t n = 0;
    char *end;

    member[n++] = strtol(at, &end, 10);
    while (*end == '+')
        member[n++] = strtol(end + 1, &end, 10);
    ((int64_t *)spec->device)[spec->n_device] = n > 1 ? -(int64_t)spec->n_device - 1 : member[0];
    if (n > 1)
        ((clv_device_group *)spec->groups)[spec->n_groups++] =
            (clv_device_group){ -(int64_t)spec->n_device - 1, member, n };
    spec->n_device++;
    return end;
}

__attribute__((unused)) static clv_sharding_spec spec_text(const char *text, const char *tensor,
                                                           clv_arena *arena)
{
    clv_sharded_dim *dims = CLV_NEW_ARRAY(arena, clv_sharded_dim, SPEC_TEXT_MAX);
    clv_sharding_spec spec = { .tensor = tensor,
                               .device = CLV_NEW_ARRAY(arena, int64_t, SPEC_TEXT_MAX),
                               .groups = CLV_NEW_ARRAY(arena, clv_device_group, SPEC_TEXT_MAX),
                               .dims = dims };
    bool devices = false;

    for (const char *at = text; *at;) {
        if (*at == ' ')
            at++;
        else if (*at == '@')
            devices = true, at++;
        else if (devices)
            at = spec_text_device(at, arena, &spec);
        else
            at = spec_text_dim(at, arena, &dims[spec.n_dims++]);
    }
    return spec;
}

#endif
