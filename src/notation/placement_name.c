#include "notation/placement_name.h"

#include <string.h>

static void put_words(clv_str name, char *to)
{
    for (int32_t i = 0; i < name.n; i++)
        to[i] = name.at[i] == '/' ? '.' : name.at[i];
}

clv_status clv_placement_name_of(clv_str name, clv_arena *arena, clv_str *ret, clv_error *err)
{
    char *text = NULL;

    while (name.n > 0 && (name.at[0] == '/' || name.at[0] == '.')) {
        name.at++;
        name.n--;
    }
    text = clv_arena_take(arena, (size_t)name.n);
    if (!text)
        return clv_fail_nomem(err, "name");
    put_words(name, text);
    *ret = (clv_str){ text, name.n };
    return CLV_OK;
}

clv_status clv_placement_name_join(clv_str prefix, const char *name, clv_arena *arena, clv_str *ret,
                                   clv_error *err)
{
    clv_str below = clv_str_of(name + strspn(name, "/."));
    int64_t n = (int64_t)prefix.n + (prefix.n > 0) + below.n;
    char *text = n > INT32_MAX ? NULL : clv_arena_take(arena, (size_t)n);

    if (!text)
        return clv_fail_nomem(err, "name");
    if (prefix.n > 0) {
        memcpy(text, prefix.at, (size_t)prefix.n);
        text[prefix.n] = '.';
    }
    put_words(below, text + prefix.n + (prefix.n > 0));
    *ret = (clv_str){ text, (int32_t)n };
    return CLV_OK;
}

bool clv_placement_name_up(clv_str *name)
{
    if (name->n == 0)
        return false;
    do
        name->n--;
    while (name->n > 0 && name->at[name->n] != '.');
    return true;
}

int32_t clv_placement_name_longest_suffix(const clv_map *map, clv_str name)
{
    int32_t id = clv_map_get(map, name);

    for (int32_t i = 0; id < 0 && i < name.n; i++)
        if (name.at[i] == '.')
            id = clv_map_get(map, (clv_str){ name.at + i + 1, name.n - i - 1 });
    return id;
}
