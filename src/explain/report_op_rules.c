#include "explain/report_op_rules.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json_out.h"
#include "base/suggest.h"
#include "explain/text.h"
#include "graph/ops.h"
#include "sharding/rule_text.h"
#include "sharding/writers.h"

/* Each case of a rule has its conditions, and then one of three: why nothing is split; what a
 * function lets be split; or the rule as it stands, with the kind of each factor.
 */

#define WHOLE "whole: "

typedef struct {
    clv_str when, body;
    const char *about; /* what a function lets be split; NULL: no function writes the rule */
    bool whole;        /* body is the reason */
    clv_term *factors; /* or NULL */
    int32_t n_factors;
} rule_case;

static const char *const reduce_words[] = {
    "", "sum", "mean", "maximum", "minimum", "product", "L2 norm", "sum of exponentials"
};
static const char *const kind_words[] = { "parallel", "reduced", "whole", "halo", "summands" };

static clv_status read_case(rule_case *c, clv_arena *arena, clv_error *err)
{
    clv_rule_text text;
    int32_t n = (int32_t)strlen(WHOLE);
    if (c->body.n > n && memcmp(c->body.at, WHOLE, (size_t)n) == 0) {
        c->whole = true;
        c->body = (clv_str){ c->body.at + n, c->body.n - n };
        return CLV_OK;
    }
    if (c->body.n > 0 && c->body.at[0] == '=') {
        clv_str name = { c->body.at + 1, c->body.n - 1 };
        for (int32_t i = 0; i < name.n; i++)
            if (name.at[i] == ':')
                name.n = i;
        c->about = clv_rule_writer_about(name);
        return CLV_OK;
    }
    CLV_TRY(clv_rule_text_read(c->body, arena, &text, err));
    c->factors = CLV_NEW_ARRAY(arena, clv_term, text.n_terms);
    if (!c->factors)
        return clv_fail_nomem(err, "the rules");
    c->n_factors = clv_rule_text_factors(&text, c->factors);
    return CLV_OK;
}

/* -- text -- */

static void put_factor(clv_text *text, const clv_term *f)
{
    clv_text_printf(text, "      %.*s%-*s  %s", CLV_STR_ARG(f->name),
                    f->name.n < 6 ? 6 - (int)f->name.n : 0, f->run ? ".." : "",
                    kind_words[f->kind]);
    if (f->kind == CLV_FACTOR_REDUCED)
        clv_text_printf(text, " by %s", reduce_words[f->reduce]);
    if (f->kind == CLV_FACTOR_HALO)
        clv_text_printf(text, " of %" PRId64 " before and %" PRId64 " after", f->before, f->after);
    if (f->by_index)
        clv_text_printf(text, ", chosen by index: a part answers for its own");
    if (f->even)
        clv_text_printf(text, ", parts of one size");
    if (f->granule > 1)
        clv_text_printf(text, ", parts are multiples of %" PRId64, f->granule);
    clv_text_printf(text, "\n");
}

static void put_case(clv_text *text, const rule_case *c, bool factors)
{
    if (c->when.n > 0)
        clv_text_printf(text, "    if %.*s:\n", CLV_STR_ARG(c->when));
    if (c->whole)
        clv_text_printf(text, "    %.*s\n", CLV_STR_ARG(c->body));
    else if (c->about)
        clv_text_printf(text, "    by its shapes: %s\n", c->about);
    else
        clv_text_printf(text, "    %.*s\n", CLV_STR_ARG(c->body));
    for (int32_t i = 0; factors && i < c->n_factors; i++)
        put_factor(text, &c->factors[i]);
}

/* -- JSON -- */

static void put_json_case(clv_json_out *out, const rule_case *c)
{
    clv_json_open_object(out, NULL);
    if (c->when.n > 0)
        clv_json_put_str(out, "if", c->when);
    if (c->whole) {
        clv_json_put_str(out, "whole", c->body);
    } else if (c->about) {
        clv_json_put_string(out, "by_shapes", c->about);
    } else {
        clv_json_put_str(out, "rule", c->body);
        clv_json_open_array(out, "factors");
        for (int32_t i = 0; i < c->n_factors; i++) {
            const clv_term *f = &c->factors[i];
            clv_json_open_object(out, NULL);
            clv_json_put_str(out, "name", f->name);
            clv_json_put_bool(out, "run", f->run);
            clv_json_put_string(out, "kind", kind_words[f->kind]);
            if (f->kind == CLV_FACTOR_REDUCED)
                clv_json_put_string(out, "reduced_by", reduce_words[f->reduce]);
            if (f->by_index)
                clv_json_put_bool(out, "by_index", true);
            if (f->even)
                clv_json_put_bool(out, "even", true);
            clv_json_put_int(out, "granule", f->granule);
            clv_json_close_object(out);
        }
        clv_json_close_array(out);
    }
    clv_json_close_object(out);
}

/* -- both -- */

/* In what the operator is linear, of floating-point numbers; NULL: in nothing. */
static const char *linear_in(const clv_op_def *def)
{
    return def->flags & CLV_OPF_LINEAR     ? "input 0"
           : def->flags & CLV_OPF_ADDITIVE ? "all inputs together"
           : def->flags & CLV_OPF_BILINEAR ? "input 0 or input 1"
                                           : NULL;
}

typedef struct {
    const char *name; /* NULL: all */
    clv_text *text;   /* one of these two */
    clv_json_out *json;
    clv_arena *arena;
} listing;

static clv_status list_op(const listing *l, const clv_op_def *def, const char *full_name,
                          clv_error *err)
{
    clv_str rest = clv_str_of(def->rule);
    rule_case c = { .whole = false };

    if (l->json) {
        clv_json_open_object(l->json, NULL);
        clv_json_put_string(l->json, "domain", def->domain);
        clv_json_put_string(l->json, "operator", def->name);
        clv_json_open_array(l->json, "cases");
    } else {
        clv_text_printf(l->text, "%s\n", full_name);
    }
    while (clv_case_next(&rest, &c.when, &c.body)) {
        CLV_TRY(read_case(&c, l->arena, err));
        if (l->json)
            put_json_case(l->json, &c);
        else
            put_case(l->text, &c, l->name != NULL);
        c = (rule_case){ .whole = false };
    }
    if (l->json) {
        clv_json_close_array(l->json);
        if (linear_in(def))
            clv_json_put_string(l->json, "linear_in", linear_in(def));
        clv_json_close_object(l->json);
    } else if (l->name && linear_in(def)) {
        clv_text_printf(l->text, "    parts of a sum go through %s\n", linear_in(def));
    }
    return CLV_OK;
}

static clv_status fail_unknown(const char *name, clv_arena *arena, clv_error *err)
{
    int n = clv_n_op_defs();
    const char **names = CLV_NEW_ARRAY(arena, const char *, n);
    if (!names)
        return clv_fail_nomem(err, "the rules");
    for (int i = 0; i < n; i++)
        names[i] = clv_op_def_at(i)->name;
    const char *near = clv_suggest(name, names, n);
    return clv_fail(err, CLV_EUSAGE, "operator '%.80s' is not known%s%s%s", name,
                    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static clv_status list_all(const listing *l, clv_error *err)
{
    bool found = false;

    for (int32_t i = 0; i < clv_n_op_defs(); i++) {
        const clv_op_def *def = clv_op_def_at(i);
        char full[128];
        snprintf(full, sizeof full, "%s%s%s", def->domain, def->domain[0] ? "." : "", def->name);
        if (l->name && strcmp(l->name, def->name) != 0 && strcmp(l->name, full) != 0)
            continue;
        CLV_TRY(list_op(l, def, full, err));
        found = true;
    }
    return found ? CLV_OK : fail_unknown(l->name, l->arena, err);
}

clv_status clv_report_op_rules(const char *name, bool as_json, clv_arena *arena, const char **ret,
                               clv_error *err)
{
    clv_text text = { .arena = arena };
    clv_json_out out;
    listing l = { .name = name, .arena = arena };
    if (!as_json) {
        l.text = &text;
        CLV_TRY(list_all(&l, err));
        *ret = clv_text_end(&text);
        return *ret ? CLV_OK : clv_fail_nomem(err, "the rules");
    }
    l.json = &out;
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_open_array(&out, "operators");
    CLV_TRY(list_all(&l, err));
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    return CLV_OK;
}
