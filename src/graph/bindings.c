#include "graph/bindings.h"

#include <ctype.h>
#include <string.h>

#include "base/map.h"
#include "base/units.h"
#include "graph/symbol_sizes.h"

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
#define SIZE_SUPPOSED                                                                              \
    INT64_C(720720) /* of a name whose size comes later: all small numbers divide it */

typedef struct {
    const char *at, *end;
    const clv_map *names; /* to symbols */
    const int64_t *size;  /* by symbol */
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
    if (i < 0 || p->size[i] == CLV_SIZE_OPEN)
        return false;
    p->names_seen = true;
    *ret = p->size[i] == CLV_SIZE_ANY ? SIZE_SUPPOSED : p->size[i];
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

/* The size of a symbol as an expression of names that have one; CLV_SIZE_OPEN: it is none. */
static int64_t size_of_name(const clv_symbol_sizes *sizes, const clv_map *names, clv_str symbol)
{
    parser p = {
        .at = symbol.at, .end = symbol.at + symbol.n, .names = names, .size = sizes->size
    };
    int64_t size;
    if (!expression(&p, &size) || peek(&p) != '\0' || p.at != p.end || !p.names_seen || size < 1)
        return CLV_SIZE_OPEN;
    return size;
}

bool *clv_input_symbols(const clv_model *model, clv_arena *arena)
{
    const clv_graph *g = model->main;
    bool *ret = CLV_NEW_ARRAY(arena, bool, model->n_symbols);
    for (int32_t i = 0; ret && g && i < g->n_inputs; i++) {
        const clv_type *type = clv_tensor_at(g, g->inputs[i])->declared;
        for (int32_t a = 0; type && type->kind == CLV_TYPE_TENSOR && a < type->rank; a++)
            if (clv_dim_is_symbol(type->dims[a]))
                ret[clv_dim_symbol_id(type->dims[a])] = true;
    }
    return ret;
}

/* -- what follows -- */

/* Enough for names of symbols that follow from others of that kind; then the rest stays open. */
#define ROUNDS       4

#define ORIGIN_SHOWN 400 /* characters */

typedef struct {
    const clv_model *model;
    clv_symbol_sizes *sizes;
    clv_map ids; /* of the symbols */
} completion;

static clv_status begin(completion *c, const clv_model *model, const clv_relations *relations,
                        clv_arena *arena, clv_error *err)
{
    *c = (completion){ .model = model };
    CLV_TRY(clv_symbol_sizes_new(model, relations, arena, &c->sizes, err));
    CLV_TRY(clv_map_init(&c->ids, arena, model->n_symbols, err));
    for (int32_t i = 0; i < model->n_symbols; i++)
        CLV_TRY(clv_map_put(&c->ids, model->symbols[i], i, NULL, err));
    return CLV_OK;
}

/* Of a symbol that the model lacks, or that is given twice, inference speaks. */
static void give_all(completion *c, const clv_binding *at, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t id = clv_map_get(&c->ids, at[i].symbol);
        if (id >= 0 && c->sizes->size[id] == CLV_SIZE_OPEN && at[i].value >= 1)
            clv_symbol_sizes_give(c->sizes, id, at[i].value);
    }
}

/* Relations first: a name is a habit of exporters. any: sizes are not known yet, only whether there
 * are some. */
static clv_status follow(completion *c, bool any, clv_error *err)
{
    for (int32_t round = 0, n_new = 1; round < ROUNDS && n_new > 0; round++) {
        CLV_TRY(clv_symbol_sizes_follow(c->sizes, err));
        n_new = 0;
        for (int32_t i = 0; i < c->model->n_symbols; i++) {
            if (c->sizes->size[i] != CLV_SIZE_OPEN)
                continue;
            int64_t size = size_of_name(c->sizes, &c->ids, c->model->symbols[i]);
            if (size == CLV_SIZE_OPEN)
                continue;
            clv_symbol_sizes_give(c->sizes, i, any ? CLV_SIZE_ANY : size);
            n_new++;
        }
    }
    return clv_symbol_sizes_follow(c->sizes, err);
}

/* NULL: there is no memory. */
static const char *show_origin(const completion *c, int32_t symbol, clv_arena *arena)
{
    char text[ORIGIN_SHOWN];
    return clv_arena_printf(arena, "%s",
                            clv_symbol_size_origin(c->sizes, symbol, text, sizeof text));
}

/* Those given, then the others that have a size. */
static clv_status collect(const completion *c, clv_arena *arena, clv_bindings *b, clv_error *err)
{
    const clv_model *model = c->model;
    size_t most = (size_t)b->n_given + (size_t)model->n_symbols;
    clv_binding *at = CLV_NEW_ARRAY(arena, clv_binding, most);
    clv_bindings all = { .at = at, .n = b->n_given, .n_given = b->n_given };
    bool *given = CLV_NEW_ARRAY(arena, bool, model->n_symbols);
    all.follows_from = CLV_NEW_ARRAY(arena, const char *, most);
    if (!at || !given || !all.follows_from)
        return clv_fail_nomem(err, "sizes of symbols");
    for (int32_t i = 0; i < b->n_given; i++) {
        int32_t id = clv_map_get(&c->ids, b->at[i].symbol);
        at[i] = b->at[i];
        if (id >= 0)
            given[id] = true;
    }
    for (int32_t i = 0; i < model->n_symbols; i++) {
        if (given[i] || c->sizes->size[i] == CLV_SIZE_OPEN)
            continue;
        at[all.n] = (clv_binding){ model->symbols[i], c->sizes->size[i] };
        if (c->sizes->from[i] != CLV_FROM_NOTHING &&
            !(all.follows_from[all.n] = show_origin(c, i, arena)))
            return clv_fail_nomem(err, "sizes of symbols");
        all.n++;
    }
    *b = all;
    return CLV_OK;
}

clv_status clv_bindings_complete(const clv_model *model, const clv_relations *relations,
                                 clv_arena *arena, clv_bindings *b, clv_error *err)
{
    completion c;
    CLV_TRY(begin(&c, model, relations, arena, err));
    give_all(&c, b->at, b->n_given);
    CLV_TRY(follow(&c, false, err));
    return collect(&c, arena, b, err);
}

/* -- what is asked for -- */

static bool is_plain_name(clv_str symbol)
{
    for (int32_t i = 0; i < symbol.n; i++)
        if (!is_name_char(symbol.at[i]))
            return false;
    return true;
}

/* Is it a sum of others, or an expression of names? Those are asked for last. */
static bool *find_dependent(completion *c, clv_arena *arena)
{
    const clv_relations *r = c->sizes->relations;
    bool *dependent = CLV_NEW_ARRAY(arena, bool, c->model->n_symbols);
    int64_t *supposed = CLV_NEW_ROOM(arena, int64_t, c->model->n_symbols);
    if (!dependent || !supposed)
        return NULL;
    for (int32_t i = 0; i < c->model->n_symbols; i++)
        supposed[i] = CLV_SIZE_ANY;
    for (int32_t i = 0; r && i < r->n; i++)
        if (clv_dim_symbol_id(r->at[i].left) < c->model->n_symbols)
            dependent[clv_dim_symbol_id(r->at[i].left)] = true;
    const clv_symbol_sizes all = { .size = supposed };
    for (int32_t i = 0; i < c->model->n_symbols; i++)
        dependent[i] |= !is_plain_name(c->model->symbols[i]) &&
                        size_of_name(&all, &c->ids, c->model->symbols[i]) != CLV_SIZE_OPEN;
    return dependent;
}

clv_status clv_bindings_asked(const clv_model *model, const clv_relations *relations,
                              const clv_bindings *bindings, clv_arena *arena,
                              clv_symbol_need *needs, clv_error *err)
{
    completion c;
    CLV_TRY(begin(&c, model, relations, arena, err));
    const bool *dependent = find_dependent(&c, arena);
    if (!dependent)
        return clv_fail_nomem(err, "sizes of symbols");
    give_all(&c, bindings->at, bindings->n);
    for (int last = 0; last < 2; last++) {
        for (int32_t i = 0; i < model->n_symbols; i++) {
            if (!needs[i].asked || dependent[i] != last)
                continue;
            needs[i].asked = c.sizes->size[i] == CLV_SIZE_OPEN;
            if (needs[i].asked)
                clv_symbol_sizes_give(c.sizes, i, CLV_SIZE_ANY);
            else if (c.sizes->from[i] != CLV_FROM_NOTHING &&
                     !(needs[i].follows_from = show_origin(&c, i, arena)))
                return clv_fail_nomem(err, "sizes of symbols");
            CLV_TRY(clv_symbol_sizes_follow(c.sizes, err));
        }
        CLV_TRY(follow(&c, true, err));
    }
    return CLV_OK;
}
