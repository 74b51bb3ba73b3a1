/* Every line of ops.def has a rule that can be read; texts that are none are refused; and whatever
 * a file says of an operator, resolving answers, and what it answers can be used.
 */
#include "graph/hostile.h"
#include "graph/ops.h"
#include "sharding/factors_layout.h"
#include "sharding/rule_case.h"
#include "sharding/rule_text.h"
#include "sharding/writers.h"
#include "support/effort.h"

static bool is_case(clv_str conditions, clv_str body, clv_arena *arena, clv_error *err)
{
    clv_rule_text text;
    clv_when when;
    clv_str name, param;
    bool ok = true;
    while (ok && clv_when_next(&conditions, &when, &ok))
        continue;
    if (!ok)
        return clv_fail(err, CLV_EINTERNAL, "a condition cannot be read") == CLV_OK;
    if (clv_case_is_whole(&body))
        return body.n > 0 || clv_fail(err, CLV_EINTERNAL, "no reason is given") == CLV_OK;
    if (clv_case_is_written(body, &name, &param))
        return clv_rule_writer_find(name) ||
               clv_fail(err, CLV_EINTERNAL, "no such writer") == CLV_OK;
    return clv_rule_text_read(body, arena, &text, err) == CLV_OK;
}

/* A rule that can be read, and every function that it names exists. */
static bool is_rule(const char *text, clv_error *err)
{
    clv_str rest = clv_str_of(text), conditions, body;
    clv_arena *arena = clv_arena_new(NULL, 0);
    bool ok = rest.n > 0;
    while (ok && clv_case_next(&rest, &conditions, &body))
        ok = is_case(conditions, body, arena, err);
    if (ok && rest.n > 0)
        ok = clv_fail(err, CLV_EINTERNAL, "a bracket is open") == CLV_OK;
    clv_arena_free(arena);
    return ok;
}

/* covers: C.002 */
Test(rules_read, every_line_is_a_rule)
{
    for (int32_t kind = 0; kind < clv_n_op_defs(); kind++) {
        const clv_op_def *def = clv_op_def_at(kind);
        clv_error err = { .status = CLV_OK };
        cr_expect(is_rule(def->rule, &err), "%s: '%s': %s", def->name, def->rule, err.message);
    }
}

Test(rules_read, texts_that_are_none)
{
    static const char *const bad[] = {
        "",
        "(a",
        "(a)",
        "(a)->",
        "(a)->(a",
        "(a)->(a) b",
        "whole:",
        "whole: ",
        "=no_such",
        "[v<] (a)->(a)",
        "[ (a)->(a)",
        "(a:wrong)->(a)",
        "(a)->(a);",
        "(a..*b)->(a)",
        "(a)*2->(a)",
        "(a)->(a); x=",
        "(a)->(a); a..=",
        "(a~1)->(a)",
        "(a%0)->(a)",
        "(toolonganame)->()",
        "(a)^x->(a)",
        "(a)*0->(a)",
        "[r0] (a)->(a)",
        "(99999999999999999999)->()",
        "[a<b] (a)->(a)",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clv_error err = { .status = CLV_OK };
        cr_expect_not(is_rule(bad[i], &err), "'%s' passes for a rule", bad[i]);
    }
}

Test(rules_read, texts_that_are_rules)
{
    static const char *const good[] = {
        "->()",
        "-->-",
        "(a,b)->(a,b)",
        " ( a , b ) -> ( a , b ) ",
        "(...)*->(...)",
        "-,-,(a..,_,c..),-,-*3->(a..,_,c..); a..=axis",
        "[!#1,v<13,mode=x,k?1=2,r0=3,out1] (a)->(a) | whole: it is so",
        "(n:max,m:even,k%32)->(m); 2=n; #1[0]=m; x?1=k; #2=shape; pads[1]=pad m",
        "(y~1+2*2)->(y)",
        "=reduce:sum",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        clv_error err = { .status = CLV_OK };
        cr_expect(is_rule(good[i], &err), "'%s': %s", good[i], err.message);
    }
}

/* Ids in range, sizes and products true, layouts within the rank. */
static void check_operand(const clv_factors *f, const clv_operand_factors *o, const clv_type *type,
                          const char *name)
{
    if (o->rank == 0)
        return;
    cr_assert_eq(o->rank, type->rank, "%s", name);
    for (int32_t i = 0; i < o->rank; i++) {
        int64_t product = 1;
        bool open = false;
        for (int32_t j = 0; j < o->dims[i].n; j++) {
            int16_t at = o->dims[i].at[j];
            cr_assert(at >= 0 && at < f->n_factors, "%s", name);
            open |= f->factors[at].size < 0;
            if (!open && __builtin_mul_overflow(product, f->factors[at].size, &product))
                product = -1;
        }
        cr_assert(o->dims[i].n == 0 || open || product == type->dims[i],
                  "%s: dim %d is %lld, its factors make %lld", name, i, (long long)type->dims[i],
                  (long long)product);
    }
}

/* A layout that any later stage may take: in range, in the one way to write it. */
static void check_layout(const clv_layout *l, const clv_operand_factors *o, const clv_type *type,
                         const clv_mesh *mesh, const char *name)
{
    clv_error err = { .status = CLV_OK };
    clv_tensor_split tensor = { .rank = o->rank,
                                .dims = o->rank ? type->dims : NULL,
                                .dtype = CLV_DT_FLOAT,
                                .policy = CLV_UNEVEN_BALANCED };
    bool known = !o->rank || clv_type_is_static(type);
    clv_status status = clv_layout_check(l, mesh, o->rank, known ? &tensor : NULL, &err);
    cr_assert_eq(status, CLV_OK, "%s: %s", name, err.message);
    clv_layout plain = clv_layout_plain(l, mesh);
    cr_assert(clv_layout_equal(&plain, l), "%s", name);
}

typedef struct {
    const clv_operand_factors *factors;
    const clv_type *type;
} operand;

static operand operand_of(const clv_inference *found, const clv_factors *f, int32_t k)
{
    static const clv_type none = { .kind = CLV_TYPE_TENSOR };
    const clv_graph *g = found->main->graph;
    bool out = k >= f->n_in;
    clv_tensor t = out ? clv_op_output(g, &g->ops[0], k - f->n_in) : clv_op_input(g, &g->ops[0], k);
    return (operand){ out ? &f->out[k - f->n_in] : &f->in[k],
                      t.i >= 0 ? &found->main->of[t.i] : &none };
}

/* Factors of an operator in which choices are tried; some hostile shapes have many. */
#define FACTORS_TRIED 12

static void check_choices(const clv_inference *found, const clv_factors *f, const char *name)
{
    static const clv_mesh mesh = {
        .n_axes = 2, .size = { 2, 3, 1 }, .name = { "a", "b" }, .n_devices = 6
    };
    clv_layout l;
    for (int16_t a = -1; a < f->n_factors && a < FACTORS_TRIED; a++)
        for (int16_t b = -1; b < f->n_factors && b < FACTORS_TRIED; b++) {
            int16_t choice[CLV_MESH_AXES_MAX] = { a, b, -1 };
            if (!clv_factors_allow(f, &mesh, choice))
                continue;
            for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
                operand o = operand_of(found, f, k);
                if (k < f->n_in)
                    clv_factors_in(f, &mesh, choice, k, &l);
                else
                    clv_factors_out(f, &mesh, choice, k - f->n_in, &l);
                check_layout(&l, o.factors, o.type, &mesh, name);
            }
        }
}

static void check_all(const clv_inference *found, const clv_factors *f, const char *name)
{
    const clv_op_info *op = &found->main->graph->ops[0];
    cr_assert_eq(f->n_in, clv_op_n_explicit(op));
    cr_assert_eq(f->n_out, op->n_out);
    for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
        operand o = operand_of(found, f, k);
        check_operand(f, o.factors, o.type, name);
    }
    check_choices(found, f, name);
}

static void one_case(uint64_t *state, const clv_op_def *def)
{
    char inputs[512], words[512];
    static const int versions[] = { 1, 6, 7, 9, 11, 13, 18, 23 };
    op_case c;
    clv_factors f;
    clv_error err;
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    draw_words(state, hostile_types, sizeof hostile_types / sizeof *hostile_types, draw(state, 7),
               inputs, sizeof inputs);
    draw_words(state, hostile_attrs, sizeof hostile_attrs / sizeof *hostile_attrs, draw(state, 4),
               words, sizeof words);
    int version = versions[draw(state, sizeof versions / sizeof *versions)];
    if (case_run(&c, arena, def->domain, version, def->name, inputs, words, "a b - d", &found,
                 &err) == CLV_OK) {
        clv_status status = resolve_case(found, arena, &f, &err);
        cr_assert_eq(status, CLV_OK, "%s(%s) %s: %s", def->name, inputs, words, err.message);
        check_all(found, &f, def->name);
    }
    clv_arena_free(arena);
}

Test(rules_read, whatever_a_file_says)
{
    uint64_t state = 1;
    for (int32_t kind = 0; kind < clv_n_op_defs(); kind++)
        for (uint64_t i = 0; i < test_effort(200); i++)
            one_case(&state, clv_op_def_at(kind));
}

/* Memory that runs out anywhere is a failure that says so, and nothing worse. */
Test(rules_read, without_memory)
{
    op_case c;
    clv_error err;
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_eq(
        case_run(&c, arena, "", 13, "MatMul", "float[4,8] float[8,6]", "", "o", &found, &err),
        CLV_OK);
    for (size_t limit = 1; limit < 20000; limit += 997) {
        clv_factors f;
        clv_arena *small = clv_arena_new(NULL, limit);
        if (!small)
            continue;
        clv_status status = resolve_case(found, small, &f, &err);
        cr_assert(status == CLV_OK || status == CLV_ENOMEM);
        clv_arena_free(small);
    }
    clv_arena_free(arena);
}
