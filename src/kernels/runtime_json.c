#include "kernels/runtime_json.h"

#include <string.h>

#include "base/json.h"
#include "cluster/fields.h"
#include "graph/ops.h"

#define PATH_SIZE     256
#define PATTERNS_MAX  256
#define OPERATORS_MAX 1000000 /* of a stage without a limit: more than a model has */

const char *clv_kernel_kind_name(clv_kernel_kind kind)
{
    switch (kind) {
    case CLV_KERNEL_SINGLE:
        return "single";
    case CLV_KERNEL_MEMORY:
        return "memory";
    case CLV_KERNEL_PRODUCT:
        return "product";
    case CLV_KERNEL_ATTENTION:
        return "attention";
    case CLV_KERNEL_EXPERTS:
        return "experts";
    case CLV_N_KERNEL_KINDS:
        break;
    }
    return "";
}

typedef struct {
    clv_arena *arena;
    clv_json_at sets;
    int32_t n_defs;
} reader;

/* -- sets of operators -- */

static clv_status add_operators(const reader *r, const clv_json_at *list, bool in_set, bool *set,
                                clv_error *err);

static clv_status add_set(const reader *r, const clv_json_at *where, const char *name, bool *set,
                          clv_error *err)
{
    clv_json_at list = { 0 };
    char path[PATH_SIZE];
    if (r->sets.json)
        CLV_TRY(clv_json_member(&r->sets, name, false, &list, err));
    if (!list.json)
        return clv_fail(err, CLV_EFORMAT, "%s is '@%.60s', expected the name of one of the sets",
                        clv_json_path(where, path, sizeof path), name);
    return add_operators(r, &list, true, set, err);
}

static clv_status add_operator(const reader *r, const clv_json_at *at, bool in_set, bool *set,
                               clv_error *err)
{
    const char *name;
    char path[PATH_SIZE];
    CLV_TRY(clv_json_string(at, &name, err));
    if (name[0] == '@' && !in_set)
        return add_set(r, at, name + 1, set, err);
    int32_t kind = clv_speed_find(name);
    if (kind < 0 || kind >= r->n_defs)
        return clv_fail(err, CLV_EFORMAT,
                        "%s is '%.60s', expected an operator such as MatMul or "
                        "com.microsoft.Attention%s",
                        clv_json_path(at, path, sizeof path), name,
                        in_set ? "" : ", or a set such as @pointwise");
    if (set[kind])
        return clv_fail(err, CLV_EFORMAT, "%s is '%.60s', which is in the list already",
                        clv_json_path(at, path, sizeof path), name);
    set[kind] = true;
    return CLV_OK;
}

static clv_status add_operators(const reader *r, const clv_json_at *list, bool in_set, bool *set,
                                clv_error *err)
{
    int32_t n;
    clv_json_at one = { 0 };
    char path[PATH_SIZE];
    CLV_TRY(clv_json_length(list, &n, err));
    if (n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected operators",
                        clv_json_path(list, path, sizeof path));
    for (int32_t i = 0; i < n; i++) {
        one = clv_json_element(list, i, i > 0 ? &one : NULL);
        CLV_TRY(add_operator(r, &one, in_set, set, err));
    }
    return CLV_OK;
}

static clv_status read_set(const reader *r, const clv_json_at *object, const char *key,
                           bool required, clv_op_set *ret, clv_error *err)
{
    clv_json_at list;
    CLV_TRY(clv_json_member(object, key, required, &list, err));
    if (!list.json)
        return CLV_OK;
    bool *set = CLV_NEW_ARRAY(r->arena, bool, r->n_defs);
    if (!set)
        return clv_fail_nomem(err, "a runtime");
    CLV_TRY(add_operators(r, &list, false, set, err));
    *ret = set;
    return CLV_OK;
}

/* -- patterns -- */

static clv_status read_flag(const clv_json_at *object, const char *key, bool *ret, clv_error *err)
{
    clv_json_at member;
    CLV_TRY(clv_json_member(object, key, false, &member, err));
    return member.json ? clv_json_bool(&member, ret, err) : CLV_OK;
}

static clv_status read_count(const clv_json_at *object, const char *key, int32_t *ret,
                             clv_error *err)
{
    clv_json_at member;
    int64_t n = *ret;
    CLV_TRY(clv_json_member(object, key, false, &member, err));
    if (member.json)
        CLV_TRY(clv_json_int(&member, 0, OPERATORS_MAX, &n, err));
    *ret = (int32_t)n;
    return CLV_OK;
}

static clv_status read_with(const clv_json_at *object, clv_stage_with *ret, clv_error *err)
{
    static const char *const names[] = { [CLV_WITH_CONSTANTS] = "constants",
                                         [CLV_WITH_ROW] = "a constant row",
                                         [CLV_WITH_LIKE] = "operands as large",
                                         [CLV_WITH_START] = "what the start reads" };
    clv_json_at member;
    const char *name;
    char path[PATH_SIZE];
    CLV_TRY(clv_json_member(object, "with", false, &member, err));
    if (!member.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&member, &name, err));
    for (int i = CLV_WITH_CONSTANTS; i <= CLV_WITH_START; i++)
        if (strcmp(name, names[i]) == 0) {
            *ret = (clv_stage_with)i;
            return CLV_OK;
        }
    return clv_fail(err, CLV_EFORMAT,
                    "%s is '%.60s', expected 'constants', 'a constant row', 'operands as large' or "
                    "'what the start reads'",
                    clv_json_path(&member, path, sizeof path), name);
}

static clv_status read_transposes(const reader *r, const clv_json_at *object,
                                  clv_pattern_stage *ret, clv_error *err)
{
    clv_json_at member;
    const char *name;
    char path[PATH_SIZE];
    int32_t transpose = clv_speed_find("Transpose");
    CLV_TRY(clv_json_member(object, "transposes", false, &member, err));
    if (!member.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&member, &name, err));
    if (strcmp(name, "of matrices") != 0)
        return clv_fail(err, CLV_EFORMAT, "%s is '%.60s', expected 'of matrices'",
                        clv_json_path(&member, path, sizeof path), name);
    if (transpose < 0 || transpose >= r->n_defs || !ret->operators[transpose])
        return clv_fail(err, CLV_EFORMAT,
                        "%s says how to transpose, expected Transpose in the list",
                        clv_json_path(&member, path, sizeof path));
    ret->of_matrices = true;
    return CLV_OK;
}

static clv_status read_stage(const reader *r, const clv_json_at *object, bool before,
                             clv_pattern_stage *ret, clv_error *err)
{
    static const char *const before_keys[] = { "operators", "min",        "max", "shared",
                                               "with",      "transposes", NULL };
    static const char *const after_keys[] = { "operators", "min",        "max",   "operands",
                                              "with",      "transposes", "alone", NULL };
    char path[PATH_SIZE];
    *ret = (clv_pattern_stage){ .max = OPERATORS_MAX };
    CLV_TRY(clv_json_keys(object, before ? before_keys : after_keys, err));
    CLV_TRY(read_set(r, object, "operators", true, &ret->operators, err));
    CLV_TRY(read_set(r, object, "operands", false, &ret->operands, err));
    CLV_TRY(read_count(object, "min", &ret->min, err));
    CLV_TRY(read_count(object, "max", &ret->max, err));
    CLV_TRY(read_flag(object, "shared", &ret->shared, err));
    CLV_TRY(read_with(object, &ret->with, err));
    CLV_TRY(read_transposes(r, object, ret, err));
    CLV_TRY(read_flag(object, "alone", &ret->alone, err));
    if (ret->max < 1 || ret->min > ret->max)
        return clv_fail(
            err, CLV_EFORMAT,
            "%s can never match: min is %d and max %d, expected a max of at least 1 and "
            "min",
            clv_json_path(object, path, sizeof path), (int)ret->min, (int)ret->max);
    return CLV_OK;
}

static clv_status read_stages(const reader *r, const clv_json_at *object, const char *key,
                              clv_pattern_stage *stages, int32_t *ret_n, clv_error *err)
{
    clv_json_at list, one = { 0 };
    char path[PATH_SIZE];
    CLV_TRY(clv_json_member(object, key, false, &list, err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, ret_n, err));
    if (*ret_n > CLV_STAGES_MAX)
        return clv_fail(err, CLV_EFORMAT, "%s has %d stages, expected at most %d",
                        clv_json_path(&list, path, sizeof path), (int)*ret_n, CLV_STAGES_MAX);
    for (int32_t i = 0; i < *ret_n; i++) {
        one = clv_json_element(&list, i, i > 0 ? &one : NULL);
        CLV_TRY(read_stage(r, &one, strcmp(key, "before") == 0, &stages[i], err));
    }
    return CLV_OK;
}

static clv_status read_kind(const clv_json_at *object, clv_kernel_kind *ret, clv_error *err)
{
    clv_json_at member;
    const char *name;
    char path[PATH_SIZE];
    CLV_TRY(clv_json_member(object, "kind", true, &member, err));
    CLV_TRY(clv_json_string(&member, &name, err));
    for (int k = CLV_KERNEL_SINGLE + 1; k < CLV_N_KERNEL_KINDS; k++)
        if (strcmp(name, clv_kernel_kind_name((clv_kernel_kind)k)) == 0) {
            *ret = (clv_kernel_kind)k;
            return CLV_OK;
        }
    return clv_fail(err, CLV_EFORMAT,
                    "%s is '%.60s', expected memory, product, attention or experts",
                    clv_json_path(&member, path, sizeof path), name);
}

/* The operator that a kernel is as fast as: of a product's a product, else none. */
static clv_status read_runs_as(const reader *r, const clv_json_at *object, clv_kernel_kind kind,
                               int32_t *ret, clv_error *err)
{
    clv_json_at member;
    const char *name;
    char path[PATH_SIZE];
    *ret = -1;
    CLV_TRY(clv_json_member(object, "runs_as", false, &member, err));
    if (!member.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&member, &name, err));
    int32_t line = clv_speed_find(name);
    bool known = line >= 0 && line < r->n_defs;
    bool product = known && (clv_op_def_at(line)->flags & CLV_OPF_CONTRACTION) != 0;
    bool simple = known && (clv_op_def_at(line)->flops == CLV_FLOPS_OUT ||
                            clv_op_def_at(line)->flops == CLV_FLOPS_IN);
    if (kind == CLV_KERNEL_PRODUCT ? !product : kind != CLV_KERNEL_MEMORY || !simple)
        return clv_fail(err, CLV_EFORMAT, "%s is '%.60s', expected %s",
                        clv_json_path(&member, path, sizeof path), name,
                        kind == CLV_KERNEL_PRODUCT  ? "a product such as Gemm"
                        : kind == CLV_KERNEL_MEMORY ? "an operator by elements or rows, such as "
                                                      "LayerNormalization"
                                                    : "none for attention");
    *ret = line;
    return CLV_OK;
}

static clv_status read_pattern(const reader *r, const clv_json_at *object, clv_pattern *ret,
                               clv_error *err)
{
    static const char *const keys[] = { "name",   "kind",  "source", "start",   "rows",
                                        "before", "after", "packed", "runs_as", NULL };
    clv_json_at name, source;
    const char *text;
    CLV_TRY(clv_json_keys(object, keys, err));
    CLV_TRY(clv_json_member(object, "name", true, &name, err));
    CLV_TRY(clv_json_copy_string(&name, r->arena, &ret->name, err));
    CLV_TRY(clv_json_member(object, "source", true, &source, err));
    CLV_TRY(clv_json_string(&source, &text, err));
    CLV_TRY(read_kind(object, &ret->kind, err));
    CLV_TRY(read_runs_as(r, object, ret->kind, &ret->runs_as, err));
    CLV_TRY(read_set(r, object, "start", true, &ret->start, err));
    CLV_TRY(read_set(r, object, "rows", false, &ret->rows, err));
    CLV_TRY(read_stages(r, object, "before", ret->before, &ret->n_before, err));
    CLV_TRY(read_stages(r, object, "after", ret->after, &ret->n_after, err));
    return read_flag(object, "packed", &ret->packed, err);
}

/* -- what could never match -- */

/* Does a pattern take every operator at which it may begin? */
static bool always_holds(const clv_pattern *p)
{
    bool holds = p->kind != CLV_KERNEL_ATTENTION && p->kind != CLV_KERNEL_EXPERTS;
    for (int32_t i = 0; i < p->n_before; i++)
        holds = holds && p->before[i].min == 0;
    for (int32_t i = 0; i < p->n_after; i++)
        holds = holds && p->after[i].min == 0;
    return holds;
}

/* An earlier one that takes all at which this one begins; NULL: none. */
static const clv_pattern *taken_by(const reader *r, const clv_pattern *all, int32_t i)
{
    for (int32_t e = 0; e < i; e++) {
        bool covers = always_holds(&all[e]);
        for (int32_t k = 0; covers && k < r->n_defs; k++)
            covers = !all[i].start[k] || all[e].start[k];
        if (covers)
            return &all[e];
    }
    return NULL;
}

/* Is a contraction among the operators that a stage must have? */
static bool wants_product(const reader *r, const clv_pattern_stage *stages, int32_t n)
{
    bool wants = false;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; stages[i].min > 0 && k < r->n_defs; k++)
            wants |= stages[i].operators[k] && (clv_op_def_at(k)->flags & CLV_OPF_CONTRACTION) != 0;
    return wants;
}

/* Are experts' products behind the gates, or taken in before a result is multiplied by its own? */
static bool has_experts(const reader *r, const clv_pattern *p)
{
    bool has = false;
    for (int32_t i = 1; i < p->n_after; i++)
        for (int32_t k = 0; k < r->n_defs; k++)
            has |=
                (p->after[i].operators[k] || (p->after[i].operands && p->after[i].operands[k])) &&
                (clv_op_def_at(k)->flags & CLV_OPF_CONTRACTION) != 0;
    return has;
}

static clv_status check_pattern(const reader *r, const clv_json_at *at, const clv_pattern *all,
                                int32_t i, clv_error *err)
{
    const clv_pattern *p = &all[i], *taken = taken_by(r, all, i);
    char path[PATH_SIZE];
    if (taken)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: pattern '%.60s' can never match, for '%.60s' before it takes all "
                        "operators that it starts at",
                        clv_json_path(at, path, sizeof path), p->name, taken->name);
    bool written_out = p->n_before > 1;
    if (p->kind == CLV_KERNEL_ATTENTION && written_out &&
        !(wants_product(r, p->before, p->n_before) && wants_product(r, p->after, p->n_after)))
        return clv_fail(err, CLV_EFORMAT,
                        "%s: pattern '%.60s' can never match, expected a product with a min of 1 "
                        "before and after what attention starts at",
                        clv_json_path(at, path, sizeof path), p->name);
    if (p->kind == CLV_KERNEL_EXPERTS && p->n_after > 1 && !has_experts(r, p))
        return clv_fail(err, CLV_EFORMAT,
                        "%s: pattern '%.60s' can never match, expected products in a stage behind "
                        "the gates, or among its operands",
                        clv_json_path(at, path, sizeof path), p->name);
    for (int32_t e = 0; e < i; e++)
        if (strcmp(all[e].name, p->name) == 0)
            return clv_fail(err, CLV_EFORMAT, "%s: there are two patterns '%.60s'",
                            clv_json_path(at, path, sizeof path), p->name);
    return CLV_OK;
}

static clv_status read_patterns(const reader *r, const clv_json_at *root, clv_runtime *ret,
                                clv_error *err)
{
    clv_json_at list, one = { 0 };
    char path[PATH_SIZE];
    CLV_TRY(clv_json_member(root, "patterns", true, &list, err));
    CLV_TRY(clv_json_length(&list, &ret->n, err));
    if (ret->n > PATTERNS_MAX)
        return clv_fail(err, CLV_EFORMAT, "%s has %d patterns, expected at most %d",
                        clv_json_path(&list, path, sizeof path), (int)ret->n, PATTERNS_MAX);
    clv_pattern *all = CLV_NEW_ARRAY(r->arena, clv_pattern, ret->n);
    if (!all)
        return clv_fail_nomem(err, "a runtime");
    for (int32_t i = 0; i < ret->n; i++) {
        one = clv_json_element(&list, i, i > 0 ? &one : NULL);
        CLV_TRY(read_pattern(r, &one, &all[i], err));
        CLV_TRY(check_pattern(r, &one, all, i, err));
    }
    ret->patterns = all;
    return CLV_OK;
}

/* -- all -- */

/* Which of two words a key has; where it is not required, the first without it. */
static clv_status read_word(const clv_json_at *root, const char *key, bool required,
                            const char *const words[2], int *ret, clv_error *err)
{
    clv_json_at member;
    const char *name;
    char path[PATH_SIZE];
    CLV_TRY(clv_json_member(root, key, required, &member, err));
    *ret = 0;
    if (!member.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&member, &name, err));
    *ret = strcmp(name, words[1]) == 0;
    if (*ret == 0 && strcmp(name, words[0]) != 0)
        return clv_fail(err, CLV_EFORMAT, "%s is '%.60s', expected %s or %s",
                        clv_json_path(&member, path, sizeof path), name, words[0], words[1]);
    return CLV_OK;
}

static clv_status read_kernels_start(const clv_json_at *root, clv_runtime *ret, clv_error *err)
{
    static const char *const starts[] = { "graph", "host" };
    static const char *const quantises[] = { "product", "producer" };
    int word;
    CLV_TRY(read_word(root, "starts", true, starts, &word, err));
    ret->graph = word == 0;
    CLV_TRY(read_word(root, "quantises", false, quantises, &word, err));
    ret->quantised = word == 1;
    return CLV_OK;
}

/* What a front end does with a request: both of its times, or neither. */
static clv_status read_front_end(const clv_json_at *host, clv_host_work *ret, clv_error *err)
{
    clv_json_at request, token;
    CLV_TRY(clv_json_member(host, "request", false, &request, err));
    CLV_TRY(clv_json_member(host, "prompt_token", false, &token, err));
    if (!request.json && !token.json)
        return CLV_OK;
    CLV_TRY(clv_field_time(host, "request", &ret->request_ns, err));
    return clv_field_time(host, "prompt_token", &ret->prompt_token_ns, err);
}

static clv_status read_host(const clv_json_at *root, clv_host_work *ret, clv_error *err)
{
    static const char *const keys[] = { "run", "sequence", "request", "prompt_token", NULL };
    clv_json_at host;
    CLV_TRY(clv_json_member(root, "host", false, &host, err));
    if (!host.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&host, keys, err));
    CLV_TRY(clv_field_time(&host, "run", &ret->run_ns, err));
    CLV_TRY(clv_field_time(&host, "sequence", &ret->sequence_ns, err));
    return read_front_end(&host, ret, err);
}

/* The kernels of another runtime, and nothing of its own about them. */
static clv_status read_extends(const reader *r, const clv_json_at *root, const char **ret,
                               clv_error *err)
{
    static const char *const others[] = { "starts", "quantises", "sets", "patterns" };
    clv_json_at member, other;
    char path[PATH_SIZE];
    CLV_TRY(clv_json_member(root, "extends", false, &member, err));
    if (!member.json)
        return CLV_OK;
    CLV_TRY(clv_json_copy_string(&member, r->arena, ret, err));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CLV_TRY(clv_json_member(root, others[i], false, &other, err));
        if (other.json)
            return clv_fail(err, CLV_EFORMAT,
                            "%s stands beside 'extends', expected the kernels of '%.60s' as "
                            "they are, or no 'extends'",
                            clv_json_path(&other, path, sizeof path), *ret);
    }
    return CLV_OK;
}

static clv_status read_runtime(clv_arena *arena, const clv_json_at *root, clv_runtime *ret,
                               clv_error *err)
{
    static const char *const keys[] = { "$schema",  "version", "name",      "source",
                                        "extends",  "starts",  "quantises", "sets",
                                        "patterns", "logits",  "host",      NULL };
    static const char *const logits[] = { "all_tokens", "last_token" };
    reader r = { .arena = arena, .n_defs = clv_n_op_defs() };
    clv_json_at member;
    int64_t version;
    int word;
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_json_member(root, "version", true, &member, err));
    CLV_TRY(clv_json_int(&member, 1, 1, &version, err));
    CLV_TRY(clv_json_member(root, "name", true, &member, err));
    CLV_TRY(clv_json_copy_string(&member, arena, &ret->name, err));
    CLV_TRY(clv_json_member(root, "source", true, &member, err));
    CLV_TRY(clv_json_copy_string(&member, arena, &ret->source, err));
    CLV_TRY(read_word(root, "logits", false, logits, &word, err));
    ret->last_token = word == 1;
    CLV_TRY(read_host(root, &ret->host, err));
    CLV_TRY(read_extends(&r, root, &ret->extends, err));
    if (ret->extends)
        return CLV_OK;
    CLV_TRY(read_kernels_start(root, ret, err));
    CLV_TRY(clv_json_member(root, "sets", false, &r.sets, err));
    return read_patterns(&r, root, ret, err);
}

clv_status clv_runtime_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                             clv_runtime **ret, clv_error *err)
{
    clv_json *json;
    clv_runtime *made = CLV_NEW(arena, clv_runtime);
    if (!made)
        return clv_fail_nomem(err, "a runtime");
    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = read_runtime(arena, &root, made, err);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = made;
    return status;
}
