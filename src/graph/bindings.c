#include "graph/bindings.h"

#include <ctype.h>
#include <string.h>

#include "base/map.h"
#include "base/units.h"

clv_status clv_binding_parse(const char *text, const char *what, clv_binding *ret, clv_error *err)
{
    clv_error own;
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text ||
        clv_parse_int(equals + 1, "a size", 1, INT64_MAX, &ret->value, &own) != CLV_OK)
        return clv_fail(err, CLV_EFORMAT,
                        "%s is '%.200s', expected a symbol and a size, as in batch=8", what, text);
    ret->symbol = (clv_str){ text, (int32_t)(equals - text) };
    return CLV_OK;
}

/* expression = term { (+|-) term };  term = factor { (*|//|/) factor };
 * factor = number | name | '(' expression ')'.  Depth is bounded: names come from files.
 */
#define MAX_PARENTHESES 32

typedef struct {
    const char *at, *end;
    const clv_map *names; /* to positions in bound */
    const clv_binding *bound;
    int depth;
    bool names_seen;
} parser;

static char peek(parser *p)
{
    while (p->at < p->end && *p->at == ' ')
        p->at++;
    return p->at < p->end ? *p->at : '\0';
}

static bool expression(parser *p, int64_t *ret);

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static bool number(parser *p, int64_t *ret)
{
    for (*ret = 0; p->at < p->end && isdigit((unsigned char)*p->at); p->at++)
        if (__builtin_mul_overflow(*ret, 10, ret) ||
            __builtin_add_overflow(*ret, *p->at - '0', ret))
            return false;
    return p->at == p->end || !is_name_char(*p->at);
}

static bool name(parser *p, int64_t *ret)
{
    const char *start = p->at;
    while (p->at < p->end && is_name_char(*p->at))
        p->at++;
    int32_t i = clv_map_get(p->names, (clv_str){ start, (int32_t)(p->at - start) });
    if (i < 0)
        return false;
    p->names_seen = true;
    *ret = p->bound[i].value;
    return true;
}

static bool factor(parser *p, int64_t *ret)
{
    char c = peek(p);
    if (isdigit((unsigned char)c))
        return number(p, ret);
    if (is_name_char(c))
        return name(p, ret);
    if (c != '(' || p->depth >= MAX_PARENTHESES)
        return false;
    p->at++;
    p->depth++;
    bool ok = expression(p, ret) && peek(p) == ')';
    p->depth--;
    p->at += ok;
    return ok;
}

/* '/' must come out even; '//' rounds down. Both take only the sizes that matter: not negative. */
static bool term(parser *p, int64_t *ret)
{
    int64_t by;
    if (!factor(p, ret))
        return false;
    for (char c; (c = peek(p)) == '*' || c == '/';) {
        p->at++;
        bool floor_division = c == '/' && p->at < p->end && *p->at == '/';
        p->at += floor_division;
        if (!factor(p, &by))
            return false;
        if (c == '/') {
            if (by <= 0 || *ret < 0 || (!floor_division && *ret % by != 0))
                return false;
            *ret /= by;
        } else if (__builtin_mul_overflow(*ret, by, ret)) {
            return false;
        }
    }
    return true;
}

static bool expression(parser *p, int64_t *ret)
{
    int64_t by;
    if (!term(p, ret))
        return false;
    for (char c; (c = peek(p)) == '+' || c == '-';) {
        p->at++;
        if (!term(p, &by))
            return false;
        if (c == '+' ? __builtin_add_overflow(*ret, by, ret)
                     : __builtin_sub_overflow(*ret, by, ret))
            return false;
    }
    return true;
}

clv_status clv_bindings_complete(const clv_model *model, clv_arena *arena,
                                 const clv_binding **bindings, int32_t *n_bindings, clv_error *err)
{
    clv_map names;
    int32_t n_given = *n_bindings, n = n_given;
    clv_binding *all =
        CLV_NEW_ARRAY(arena, clv_binding, (size_t)n_given + (size_t)model->n_symbols);
    if (!all)
        return clv_fail_nomem(err, "sizes of symbols");
    CLV_TRY(clv_map_init(&names, arena, n_given, err));
    for (int32_t i = 0; i < n_given; i++) {
        all[i] = (*bindings)[i];
        CLV_TRY(clv_map_put(&names, all[i].symbol, i, NULL, err));
    }
    for (int32_t s = 0; s < model->n_symbols; s++) {
        clv_str symbol = model->symbols[s];
        parser p = { .at = symbol.at, .end = symbol.at + symbol.n, .names = &names, .bound = all };
        int64_t size;
        if (clv_map_get(&names, symbol) < 0 && expression(&p, &size) && peek(&p) == '\0' &&
            p.at == p.end && p.names_seen && size >= 1)
            all[n++] = (clv_binding){ symbol, size };
    }
    *bindings = all;
    *n_bindings = n;
    return CLV_OK;
}
