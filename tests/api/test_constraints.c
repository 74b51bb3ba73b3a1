/* test_constraints.c - rules through the public API, on small random models against brute force. */
#include "cleave.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/api.h"
#include "support/onnx_builder.h"

#define NODES_MAX 7
#define RULES_MAX 4

/* -- random models -- */

typedef struct {
    int n;
    bool reads[NODES_MAX][NODES_MAX], leads[NODES_MAX][NODES_MAX]; /* [writer][reader] */
    cleave_model *model;
    uint8_t *bytes;
} small;

static int below(uint64_t *seed, int n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (int)(*seed % (uint64_t)n);
}

static void add_nodes(small *s, test_graph *g, uint64_t *seed)
{
    for (int i = 0; i < s->n; i++) {
        char name[16], in[32], out[16];
        int a = below(seed, i + 1) - 1, b = below(seed, i + 1) - 1; /* -1: the input */
        bool two = below(seed, 2);
        snprintf(name, sizeof name, "n%d", i);
        snprintf(out, sizeof out, "t%d", i);
        snprintf(in, sizeof in, a < 0 ? "x" : "t%d", a);
        if (two)
            snprintf(in + strlen(in), sizeof in - strlen(in), b < 0 ? ",x" : ",t%d", b);
        onnx_node(g, two ? "Add" : i % 2 ? "Relu" : "Neg", name, in, out);
        if (a >= 0)
            s->reads[a][i] = true;
        if (two && b >= 0)
            s->reads[b][i] = true;
    }
}

static void open_small(small *s, uint64_t *seed)
{
    size_t n;
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    memset(s, 0, sizeof *s);
    s->n = 2 + below(seed, NODES_MAX - 1);
    onnx_input(g, "x", 1, "4,4");
    add_nodes(s, g, seed);
    for (int i = 0; i < s->n; i++) {
        bool read = false;
        char out[16];
        snprintf(out, sizeof out, "t%d", i);
        for (int k = 0; k < s->n; k++)
            read |= s->reads[i][k];
        if (!read)
            onnx_output(g, out, 1, "4,4");
    }
    memcpy(s->leads, s->reads, sizeof s->reads);
    for (int k = 0; k < s->n; k++)
        for (int a = 0; a < s->n; a++)
            for (int b = 0; b < s->n; b++)
                s->leads[a][b] |= s->leads[a][k] && s->leads[k][b];
    s->bytes = onnx_pack(m, &n);
    onnx_free(m);
    cr_assert_eq(cleave_model_open_bytes(s->bytes, n, NULL, NULL, &s->model, NULL), CLEAVE_OK);
}

static void close_small(small *s)
{
    cleave_model_free(s->model);
    free(s->bytes);
}

/* -- random rules -- */

typedef enum { PLACE, STAGE, TOGETHER, APART, EACH, AFTER, BEFORE, MAX, N_KINDS } rule_kind;

typedef struct {
    rule_kind kind;
    unsigned nodes, others; /* bits */
    unsigned where;         /* devices or stages */
    bool negative;
    int max;
} rule;

static void put_nodes(char *text, size_t size, unsigned nodes)
{
    size_t n = strlen(text);
    n += (size_t)snprintf(text + n, size - n, "[");
    for (int i = 0, any = 0; i < NODES_MAX; i++)
        if (nodes >> i & 1)
            n += (size_t)snprintf(text + n, size - n, "%s\"n%d\"", any++ ? "," : "", i);
    snprintf(text + n, size - n, "]");
}

static void put_numbers(char *text, size_t size, unsigned bits)
{
    size_t n = strlen(text);
    n += (size_t)snprintf(text + n, size - n, "[");
    for (int i = 0, any = 0; i < 8; i++)
        if (bits >> i & 1)
            n += (size_t)snprintf(text + n, size - n, "%s%d", any++ ? "," : "", i);
    snprintf(text + n, size - n, "]");
}

static void put_text(char *text, size_t size, const char *word)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s", word);
}

static rule some_rule(const small *s, int devices, uint64_t *seed)
{
    rule r = { .kind = (rule_kind)below(seed, N_KINDS) };
    if ((r.kind == STAGE || r.kind == MAX) && below(seed, 2))
        r.kind = PLACE;
    r.nodes = 1 + (unsigned)below(seed, (1 << s->n) - 1);
    if (r.kind == PLACE || r.kind == STAGE || r.kind == AFTER || r.kind == BEFORE)
        r.nodes &= 1u << below(seed, s->n) | 1u << below(seed, s->n);
    r.nodes = r.nodes ? r.nodes : 1;
    r.others = 1u << below(seed, s->n);
    r.where = 1 + (unsigned)below(seed, (1 << devices) - 1);
    r.negative = below(seed, 4) == 0;
    r.max = 1 + below(seed, devices);
    return r;
}

static void put_rule(char *text, size_t size, const rule *r)
{
    static const char *const words[] = { "place",      "place",          "together",       "apart",
                                         "each_apart", "boundary_after", "boundary_before" };
    char number[32];
    if (r->kind == MAX) {
        snprintf(number, sizeof number, "{\"max_stages\":%d}", r->max);
        put_text(text, size, number);
        return;
    }
    put_text(text, size, "{\"");
    put_text(text, size, words[r->kind]);
    put_text(text, size, r->kind == APART ? "\":[" : "\":");
    put_nodes(text, size, r->nodes);
    if (r->kind == APART) {
        put_text(text, size, ",");
        put_nodes(text, size, r->others);
        put_text(text, size, "]");
    }
    if (r->kind == PLACE || r->kind == STAGE) {
        put_text(text, size, r->negative ? ",\"not_" : ",\"");
        put_text(text, size, r->kind == PLACE ? "on\":" : "stage\":");
        put_numbers(text, size, r->where);
    }
    put_text(text, size, "}");
}

/* -- the judge -- */

/* False: the devices wait for each other. */
static bool find_stages(const small *s, const int *device_of, int devices, int *stage)
{
    for (int d = 0; d < devices; d++)
        stage[d] = 0;
    for (int round = 0; round <= devices; round++) {
        bool moved = false;
        for (int a = 0; a < s->n; a++)
            for (int b = 0; b < s->n; b++) {
                int from = device_of[a], to = device_of[b];
                if (!s->reads[a][b] || from == to || stage[to] > stage[from])
                    continue;
                stage[to] = stage[from] + 1;
                moved = true;
            }
        if (!moved)
            return true;
    }
    return false;
}

/* Bits of those that need, or are needed by, one of nodes; these themselves too. */
static unsigned closed(const small *s, unsigned nodes, bool before)
{
    unsigned all = nodes;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < s->n; k++)
            if (nodes >> k & 1 && (before ? s->leads[i][k] : s->leads[k][i]))
                all |= 1u << i;
    return all;
}

static bool boundary_is_met(const small *s, unsigned before, unsigned after, const int *device_of,
                            const int *stage)
{
    for (int a = 0; a < s->n; a++)
        for (int b = 0; b < s->n; b++)
            if (before >> a & 1 && after >> b & 1 && stage[device_of[a]] >= stage[device_of[b]])
                return false;
    return true;
}

static bool rule_is_met(const small *s, const rule *r, const int *device_of, const int *stage)
{
    for (int a = 0; a < s->n; a++) {
        bool in = r->nodes >> a & 1;
        int d = device_of[a];
        if (r->kind == MAX && stage[d] >= r->max)
            return false;
        if (in && r->kind == PLACE && (r->where >> d & 1) == r->negative)
            return false;
        if (in && r->kind == STAGE && (r->where >> stage[d] & 1) == r->negative)
            return false;
        for (int b = 0; b < s->n; b++) {
            bool same = device_of[b] == d, both = in && r->nodes >> b & 1 && a != b;
            if (r->kind == TOGETHER && both && !same)
                return false;
            if (r->kind == EACH && both && same)
                return false;
            if (r->kind == APART && in && r->others >> b & 1 && same)
                return false;
        }
    }
    unsigned before = closed(s, r->nodes, true), after = closed(s, r->nodes, false);
    if (r->kind == AFTER)
        return boundary_is_met(s, before, after & ~before, device_of, stage);
    if (r->kind == BEFORE)
        return boundary_is_met(s, before & ~after, after, device_of, stage);
    return true;
}

static bool rules_are_met(const small *s, const rule *rules, int n, const int *device_of,
                          int devices)
{
    int stage[8];
    if (!find_stages(s, device_of, devices, stage))
        return false;
    for (int i = 0; i < n; i++)
        if (!rule_is_met(s, &rules[i], device_of, stage))
            return false;
    return true;
}

static bool can_meet(const small *s, const rule *rules, int n, int devices)
{
    int device_of[NODES_MAX], all = 1;
    for (int i = 0; i < s->n; i++)
        all *= devices;
    for (int k = 0; k < all; k++) {
        for (int i = 0, rest = k; i < s->n; i++, rest /= devices)
            device_of[i] = rest % devices;
        if (rules_are_met(s, rules, n, device_of, devices))
            return true;
    }
    return false;
}

/* The rules reported to conflict do, and without any one of them they do not. */
static void check_core(const small *s, const rule *rules, int n, int devices, const char *json,
                       uint64_t seed)
{
    rule core[RULES_MAX], less[RULES_MAX];
    int n_core = 0;
    const char *at = strstr(json, "\"rules\"");
    for (int i = 0; i < n && at; i++) {
        at = strstr(at, "\"state\"");
        cr_assert_not_null(at);
        at += strlen("\"state\"");
        if (strncmp(at, ": \"conflict\"", 12) == 0)
            core[n_core++] = rules[i];
    }
    cr_assert_gt(n_core, 0, "seed %d: %s", (int)seed, json);
    cr_assert_not(can_meet(s, core, n_core, devices), "seed %d", (int)seed);
    for (int out = 0; out < n_core; out++) {
        int n_less = 0;
        for (int i = 0; i < n_core; i++)
            if (i != out)
                less[n_less++] = core[i];
        cr_assert(can_meet(s, less, n_less, devices), "seed %d: rule %d of the set is not needed",
                  (int)seed, out);
    }
}

static bool try_one(uint64_t seed)
{
    uint64_t draw = seed * UINT64_C(0x9E3779B97F4A7C15) + 11;
    char text[2048] = "{\"rules\":[";
    int devices = 2 + below(&draw, 2), n = 1 + below(&draw, RULES_MAX), device_of[NODES_MAX];
    rule rules[RULES_MAX];
    small s;
    cleave_plan *plan = NULL;
    cleave_error error;
    cleave_plan_options o = plan_options();
    open_small(&s, &draw);
    for (int i = 0; i < n; i++) {
        rules[i] = some_rule(&s, devices, &draw);
        put_text(text, sizeof text, i ? "," : "");
        put_rule(text, sizeof text, &rules[i]);
    }
    put_text(text, sizeof text, "]}");
    o.devices = devices;
    o.constraints = text;
    o.max_candidates = 20;
    bool can = can_meet(&s, rules, n, devices);
    /* a boundary with nothing on one side binds nothing, and the judge above says so too */
    cleave_status status = cleave_plan_make(s.model, &o, NULL, &plan, &error);
    cr_assert_eq(status, can ? CLEAVE_OK : CLEAVE_NO_PLAN, "seed %d: %s: %s", (int)seed, text,
                 error.message);
    for (int i = 0; i < s.n; i++)
        device_of[i] = cleave_plan_device_of(plan, i);
    if (can)
        cr_assert(rules_are_met(&s, rules, n, device_of, devices), "seed %d: %s", (int)seed, text);
    else
        check_core(&s, rules, n, devices, plan_json(plan), seed);
    cleave_plan_free(plan);
    close_small(&s);
    return can;
}

Test(constraints, a_plan_meets_the_rules_and_none_is_missed)
{
    int n_can = 0, all = 600;
    for (uint64_t seed = 1; seed <= (uint64_t)all; seed++)
        n_can += try_one(seed);
    cr_assert(n_can > all / 5 && n_can < all * 9 / 10, "%d of %d can be satisfied", n_can, all);
}
