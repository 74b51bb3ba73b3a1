#include "explain/layer_names.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static clv_str before(clv_str name, int32_t n) { return (clv_str){ name.at, n }; }

/* Begin and end of the number at or behind *at; false where there is none. */
static bool next_number(clv_str name, int32_t *at, int32_t *ret_end)
{
    while (*at < name.n && !is_digit(name.at[*at]))
        ++*at;
    *ret_end = *at;
    while (*ret_end < name.n && is_digit(name.at[*ret_end]))
        ++*ret_end;
    return *at < name.n;
}

/* Where the part of a name ends that a number is in. */
static int32_t part_end(clv_str name, int32_t at)
{
    while (at < name.n && name.at[at] != '/' && name.at[at] != '.')
        at++;
    return at;
}

clv_status clv_layer_names_init(clv_layer_names *names, clv_arena *arena, clv_error *err)
{
    *names = (clv_layer_names){ .arena = arena };
    CLV_TRY(clv_map_init(&names->prefixes, arena, 0, err));
    return clv_map_init(&names->numbered, arena, 0, err);
}

clv_status clv_layer_names_add(clv_layer_names *names, clv_str name, clv_error *err)
{
    for (int32_t at = 0, end; next_number(name, &at, &end); at = end) {
        int32_t prefix, numbered;
        if (part_end(name, end) == name.n)
            return CLV_OK;
        CLV_TRY(clv_map_put(&names->prefixes, before(name, at), names->n, &prefix, err));
        CLV_TRY(
            clv_map_put(&names->numbered, before(name, end), names->n_numbered, &numbered, err));
        bool is_new = numbered == names->n_numbered;
        names->n_numbered += is_new;
        if (prefix < names->n) {
            names->several[prefix] |= is_new;
            continue;
        }
        if (!CLV_PUSH_ROOM(names->arena, names->several, names->n, names->cap))
            return clv_fail_nomem(err, "names of layers");
        names->several[names->n++] = false;
    }
    return CLV_OK;
}

void clv_layer_add_rest(clv_text *text, clv_str name, int32_t begin)
{
    for (int32_t at = begin < name.n ? begin : name.n, end; at < name.n; at = end) {
        int32_t number = at;
        bool is_there = next_number(name, &number, &end);
        clv_text_add(text, name.at + at, (size_t)(number - at));
        if (is_there)
            clv_text_add(text, "*", 1);
    }
    clv_text_add(text, "", 1);
}

/* Of a node that is in no layer. */
static clv_status scope_of(clv_str name, clv_arena *arena, clv_layer_name *ret, clv_error *err)
{
    clv_text text = { .arena = arena };
    int32_t n = name.n;
    while (n > 0 && name.at[n - 1] != '/')
        n--;
    ret->rest = n > 0 ? n : name.n;
    if (n > 0) {
        ret->name = clv_arena_printf(arena, "%.*s*", (int)n, name.at);
    } else {
        clv_layer_add_rest(&text, name, 0);
        ret->name = clv_text_end(&text);
    }
    ret->pattern = ret->name;
    return ret->name ? CLV_OK : clv_fail_nomem(err, "names of layers");
}

clv_status clv_layer_of(const clv_layer_names *names, clv_str name, clv_arena *arena,
                        clv_layer_name *ret, clv_error *err)
{
    for (int32_t at = 0, end; next_number(name, &at, &end); at = end) {
        int32_t part = part_end(name, end);
        int32_t prefix = clv_map_get(&names->prefixes, before(name, at));
        if (part == name.n || prefix < 0 || !names->several[prefix])
            continue;
        ret->name = clv_arena_printf(arena, "%.*s", (int)part, name.at);
        ret->pattern = clv_arena_printf(arena, "%.*s*%.*s", (int)at, name.at, (int)(part - end),
                                        name.at + end);
        ret->rest = part;
        return ret->name && ret->pattern ? CLV_OK : clv_fail_nomem(err, "names of layers");
    }
    return scope_of(name, arena, ret, err);
}
