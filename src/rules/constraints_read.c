#include "rules/constraints_read.h"

#include "graph/ops.h"
#include "problem/quotient.h"
#include "rules/constraints_read_split.h"
#include "rules/constraints_select.h"

#define RULES_MAX  65536
#define STAGES_MAX 65536 /* as in a plan file */

typedef clv_constraints_reader reader;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "constraints"); }

/* -- sets of operators -- */

/* What is marked becomes the rule's next set. */
static clv_status add_set(reader *r, clv_constraint *rule, const bool *in, clv_error *err)
{
    int32_t n = 0, first = rule->n_sets ? rule->set_first[rule->n_sets] : 0;
    for (int32_t i = 0; i < r->g->n_ops; i++)
        n += in[i];
    CLV_TRY(clv_constraints_count_members(r, n, err));
    clv_op *ops =
        clv_arena_grow(r->arena, rule->ops, (size_t)first, (size_t)first + (size_t)n, sizeof *ops);
    int32_t *set_first = clv_arena_grow(r->arena, rule->set_first, (size_t)rule->n_sets + 1,
                                        (size_t)rule->n_sets + 2, sizeof *set_first);
    if (!ops || !set_first)
        return no_memory(err);
    for (int32_t i = 0, at = first; i < r->g->n_ops; i++)
        if (in[i])
            ops[at++] = (clv_op){ i };
    rule->ops = ops;
    rule->set_first = set_first;
    rule->set_first[++rule->n_sets] = first + n;
    return CLV_OK;
}

static clv_status read_set(reader *r, const clv_json_at *at, clv_constraint *rule, clv_error *err)
{
    clv_constraints_select_none(r);
    CLV_TRY(clv_constraints_select_ops(r, at, err));
    return add_set(r, rule, r->in, err);
}

static int32_t set_size(const clv_constraint *rule, int32_t set)
{
    return rule->set_first[set + 1] - rule->set_first[set];
}

/* why NULL: a warning says already that nothing matches. */
static clv_status mark_unused(reader *r, clv_constraint *rule, const char *why, clv_error *err)
{
    rule->unused = true;
    if (!why)
        return CLV_OK;
    return clv_constraints_warn(r, clv_arena_printf(r->arena, "%s binds nothing: %s", r->rule, why),
                                err);
}

/* -- place -- */

static clv_status read_device(reader *r, const clv_json_at *at, int32_t *ret, clv_error *err)
{
    const clv_device *devices = r->cluster->devices;
    int32_t last = r->cluster->n_devices - 1;
    int64_t number = -1;
    const char *name = NULL;
    if (!clv_json_is_string(at)) {
        CLV_TRY(clv_json_int(at, 0, last, &number, err));
        *ret = (int32_t)number;
        return CLV_OK;
    }
    CLV_TRY(clv_json_string(at, &name, err));
    *ret = clv_map_get(&r->devices, clv_str_of(name));
    if (*ret >= 0)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "%s is '%.80s', expected a device of this run: 0 to %d, or '%.80s' to '%.80s'",
                    CLV_CONSTRAINTS_PATH(at), name, last, devices[0].name, devices[last].name);
}

/* A stage that so many devices cannot have is in no set. */
static clv_status read_number(reader *r, const clv_json_at *at, bool stages, uint64_t *set,
                              clv_error *err)
{
    int64_t stage = 0;
    int32_t number = 0;
    if (stages) {
        CLV_TRY(clv_json_int(at, 0, STAGES_MAX, &stage, err));
        clv_constraints_describe(r, "%d", (int)stage);
        number = stage < r->cluster->n_devices ? (int32_t)stage : -1;
    } else {
        CLV_TRY(read_device(r, at, &number, err));
        clv_constraints_describe(r, "%d", (int)number);
    }
    if (number >= 0)
        clv_bit_set(set, number);
    return CLV_OK;
}

static clv_status read_numbers(reader *r, const clv_json_at *at, bool stages, uint64_t *set,
                               clv_error *err)
{
    int32_t n = 0;
    clv_json_at element = { 0 };
    if (!clv_json_is_array(at))
        return read_number(r, at, stages, set, err);
    CLV_TRY(clv_json_length(at, &n, err));
    if (n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected at least one %s",
                        CLV_CONSTRAINTS_PATH(at), stages ? "stage" : "device");
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        if (i > 0)
            clv_constraints_describe(r, " or ");
        CLV_TRY(read_number(r, &element, stages, set, err));
    }
    return CLV_OK;
}

/* "on" and "not_on", or "stage" and "not_stage": *ret stays NULL where neither is there. */
static clv_status read_where(reader *r, const clv_json_at *object, bool stages, uint64_t **ret,
                             clv_error *err)
{
    static const char *const keys[2][2] = { { "on", "not_on" }, { "stage", "not_stage" } };
    size_t words = r->out->words;
    for (int negative = 0; negative < 2; negative++) {
        clv_json_at at;
        CLV_TRY(clv_json_member(object, keys[stages][negative], false, &at, err));
        if (!at.json)
            continue;
        uint64_t *set = CLV_NEW_ARRAY(r->arena, uint64_t, words);
        uint64_t *both = *ret ? *ret : CLV_NEW_ARRAY(r->arena, uint64_t, words);
        if (!set || !both)
            return no_memory(err);
        clv_constraints_describe(r, " %s%s ", negative ? "not " : "",
                                 stages ? "at stage" : "on device");
        CLV_TRY(read_numbers(r, &at, stages, set, err));
        for (int32_t i = 0; i < r->cluster->n_devices && !*ret; i++)
            clv_bit_set(both, i);
        for (size_t w = 0; w < words; w++)
            both[w] &= negative ? ~set[w] : set[w];
        *ret = both;
    }
    return CLV_OK;
}

static clv_status read_place(reader *r, const clv_json_at *object, const clv_json_at *at,
                             clv_constraint *rule, clv_error *err)
{
    rule->kind = CLV_CONSTRAINT_PLACE;
    clv_constraints_describe(r, "place ");
    CLV_TRY(read_set(r, at, rule, err));
    CLV_TRY(read_where(r, object, false, &rule->devices, err));
    CLV_TRY(read_where(r, object, true, &rule->stages, err));
    if (!rule->devices && !rule->stages)
        return clv_fail(
            err, CLV_EFORMAT,
            "%s says \"place\" without where: expected \"on\", \"not_on\", \"stage\" or "
            "\"not_stage\"",
            CLV_CONSTRAINTS_PATH(object));
    return set_size(rule, 0) > 0 ? CLV_OK : mark_unused(r, rule, NULL, err);
}

/* -- together, apart -- */

static clv_status read_together(reader *r, const clv_json_at *at, clv_constraint *rule,
                                clv_error *err)
{
    rule->kind = CLV_CONSTRAINT_TOGETHER;
    clv_constraints_describe(r, "together ");
    CLV_TRY(read_set(r, at, rule, err));
    int32_t n = set_size(rule, 0);
    if (n > 1)
        return CLV_OK;
    return mark_unused(r, rule, n ? "only one operator matches" : NULL, err);
}

/* Sets without operators fall away. */
static clv_status read_apart(reader *r, const clv_json_at *at, clv_constraint *rule, clv_error *err)
{
    int32_t n = 0, n_filled = 0;
    clv_json_at element = { 0 };
    rule->kind = CLV_CONSTRAINT_APART;
    if (clv_json_is_array(at))
        CLV_TRY(clv_json_length(at, &n, err));
    if (n < 2)
        return clv_fail(
            err, CLV_EFORMAT,
            "%s: expected a list of two or more to be kept apart; for all nodes that one "
            "name matches, say \"each_apart\"",
            CLV_CONSTRAINTS_PATH(at));
    clv_constraints_describe(r, "apart ");
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        if (i > 0)
            clv_constraints_describe(r, " | ");
        CLV_TRY(read_set(r, &element, rule, err));
        n_filled += set_size(rule, i) > 0;
    }
    return n_filled > 1 ? CLV_OK : mark_unused(r, rule, "fewer than two of its sets match", err);
}

static clv_status read_each_apart(reader *r, const clv_json_at *at, clv_constraint *rule,
                                  clv_error *err)
{
    clv_constraint all = { .n_sets = 0 };
    rule->kind = CLV_CONSTRAINT_APART;
    clv_constraints_describe(r, "each apart ");
    CLV_TRY(read_set(r, at, &all, err));
    int32_t n = rule->n_sets = set_size(&all, 0);
    rule->ops = all.ops;
    rule->set_first = CLV_NEW_ARRAY(r->arena, int32_t, (size_t)n + 1);
    if (!rule->set_first)
        return no_memory(err);
    for (int32_t i = 0; i <= n; i++)
        rule->set_first[i] = i;
    if (n > 1)
        return CLV_OK;
    return mark_unused(r, rule, n ? "only one operator matches" : NULL, err);
}

/* -- boundaries -- */

/* The operator that writes input k; CLV_NO_OP: none does. */
static clv_op writer_of(const clv_graph *g, const clv_op_info *op, int32_t k)
{
    clv_tensor t = clv_op_input(g, op, k);
    return t.i < 0 ? CLV_NO_OP : clv_tensor_at(g, t)->producer;
}

/* Adds to `before` all that its operators need, and to `behind` all that needs its operators. */
static void close_sides(const clv_graph *g, bool *before, bool *behind)
{
    for (int32_t i = g->n_ops - 1; i >= 0; i--)
        for (int32_t k = 0; before[i] && k < g->ops[i].n_in; k++) {
            clv_op from = writer_of(g, &g->ops[i], k);
            if (from.i >= 0)
                before[from.i] = true;
        }
    for (int32_t i = 0; i < g->n_ops; i++)
        for (int32_t k = 0; !behind[i] && k < g->ops[i].n_in; k++) {
            clv_op from = writer_of(g, &g->ops[i], k);
            behind[i] = from.i >= 0 && behind[from.i];
        }
}

/* The marked ones but those that are marked in `but`. Constant nodes are wherever they are needed,
 * so they are on neither side. */
static clv_status add_side(reader *r, clv_constraint *rule, bool *in, const bool *but,
                           clv_error *err)
{
    for (int32_t i = 0; i < r->g->n_ops; i++) {
        int32_t kind = r->g->ops[i].kind;
        bool constant = kind >= 0 && clv_op_def_at(kind)->bytes == CLV_BYTES_CONST;
        in[i] = in[i] && !constant && !(but && but[i]);
    }
    return add_set(r, rule, in, err);
}

/* The nodes themselves are before it, or after it, and so is all that is on both sides of them. */
static clv_status read_boundary(reader *r, const clv_json_at *at, bool after, clv_constraint *rule,
                                clv_error *err)
{
    bool any = false, *before = r->in, *behind = r->side;
    rule->kind = CLV_CONSTRAINT_BOUNDARY;
    clv_constraints_describe(r, "stage boundary %s ", after ? "after" : "before");
    clv_constraints_select_none(r);
    CLV_TRY(clv_constraints_select_ops(r, at, err));
    for (int32_t i = 0; i < r->g->n_ops; i++) {
        behind[i] = before[i];
        any |= before[i];
    }
    close_sides(r->g, before, behind);
    CLV_TRY(add_side(r, rule, before, after ? NULL : behind, err));
    CLV_TRY(add_side(r, rule, behind, after ? before : NULL, err));
    if (!any)
        return mark_unused(r, rule, NULL, err);
    if (set_size(rule, 0) > 0 && set_size(rule, 1) > 0)
        return CLV_OK;
    return mark_unused(r, rule, set_size(rule, 0) ? "nothing comes after" : "nothing comes before",
                       err);
}

/* -- rules -- */

static clv_status read_max_stages(reader *r, const clv_json_at *at, clv_constraint *rule,
                                  clv_error *err)
{
    int64_t n = 0;
    rule->kind = CLV_CONSTRAINT_MAX_STAGES;
    CLV_TRY(clv_json_int(at, 1, STAGES_MAX, &n, err));
    rule->max_stages = (int32_t)n;
    clv_constraints_describe(r, "at most %d stage%s", (int)n, n == 1 ? "" : "s");
    return CLV_OK;
}

/* The keys that say what a rule is. */
enum {
    PLACE,
    TOGETHER,
    APART,
    EACH_APART,
    BOUNDARY_AFTER,
    BOUNDARY_BEFORE,
    MAX_STAGES,
    SPLIT,
    WHOLE,
    DATA_PARALLEL,
    N_KEYS
};
static const char *const kind_keys[N_KEYS] = { "place",        "together",       "apart",
                                               "each_apart",   "boundary_after", "boundary_before",
                                               "max_stages",   "split",          "whole",
                                               "data_parallel" };

/* at: the value of the key. */
static clv_status read_kind(reader *r, const clv_json_at *object, int key, const clv_json_at *at,
                            clv_constraint *rule, clv_error *err)
{
    switch (key) {
    case PLACE:
        return read_place(r, object, at, rule, err);
    case TOGETHER:
        return read_together(r, at, rule, err);
    case APART:
        return read_apart(r, at, rule, err);
    case EACH_APART:
        return read_each_apart(r, at, rule, err);
    case BOUNDARY_AFTER:
    case BOUNDARY_BEFORE:
        return read_boundary(r, at, key == BOUNDARY_AFTER, rule, err);
    case MAX_STAGES:
        return read_max_stages(r, at, rule, err);
    default:
        rule->kind = (clv_constraint_kind)(CLV_CONSTRAINT_SPLIT + key - SPLIT);
        return clv_constraints_read_split(r, object, at, rule, err);
    }
}

/* What goes with some rules only. */
static clv_status check_company(const clv_json_at *object, const char *kind, clv_error *err)
{
    /* key, and the one or two kinds that it goes with */
    static const char *const with[][3] = { { "on", "place" },           { "not_on", "place" },
                                           { "stage", "place" },        { "not_stage", "place" },
                                           { "dim", "split" },          { "factor", "split" },
                                           { "over", "split", "whole" } };
    for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
        const char *const *w = with[k];
        clv_json_at at;
        CLV_TRY(clv_json_member(object, w[0], false, &at, err));
        if (!at.json || strcmp(kind, w[1]) == 0 || (w[2] && strcmp(kind, w[2]) == 0))
            continue;
        return clv_fail(err, CLV_EFORMAT, "%s has \"%s\", which goes with \"%s\"%s%s%s only",
                        CLV_CONSTRAINTS_PATH(object), w[0], w[1], w[2] ? " and \"" : "",
                        w[2] ? w[2] : "", w[2] ? "\"" : "");
    }
    return CLV_OK;
}

static clv_status read_rule(reader *r, const clv_json_at *object, clv_constraint *rule,
                            clv_error *err)
{
    static const char *const keys[] = {
        "name",          "why",   "place",     "together",   "apart",          "on",
        "not_on",        "stage", "not_stage", "each_apart", "boundary_after", "boundary_before",
        "max_stages",    "split", "dim",       "factor",     "over",           "whole",
        "data_parallel", NULL
    };
    clv_json_at found = { 0 }, at;
    int key = -1;
    CLV_TRY(clv_json_keys(object, keys, err));
    CLV_TRY(clv_json_member(object, "name", false, &at, err));
    if (at.json)
        CLV_TRY(clv_json_copy_string(&at, r->arena, &rule->name, err));
    CLV_TRY(clv_json_member(object, "why", false, &at, err));
    if (at.json)
        CLV_TRY(clv_json_copy_string(&at, r->arena, &rule->why, err));
    for (int k = 0; k < N_KEYS; k++) {
        CLV_TRY(clv_json_member(object, kind_keys[k], false, &at, err));
        if (at.json && key >= 0)
            return clv_fail(err, CLV_EFORMAT, "%s has \"%s\" and \"%s\", expected one of them",
                            CLV_CONSTRAINTS_PATH(object), kind_keys[key], kind_keys[k]);
        if (!at.json)
            continue;
        key = k;
        found = at;
    }
    if (key < 0)
        return clv_fail(err, CLV_EFORMAT,
                        "%s says nothing, expected \"place\", \"together\", \"apart\", "
                        "\"each_apart\", \"boundary_after\", \"boundary_before\", "
                        "\"max_stages\", \"split\", \"whole\" or \"data_parallel\"",
                        CLV_CONSTRAINTS_PATH(object));
    CLV_TRY(check_company(object, kind_keys[key], err));
    return read_kind(r, object, key, &found, rule, err);
}

/* The name of a rule is wanted before all else: its warnings and faults go with it. */
static clv_status read_named_rule(reader *r, const clv_json_at *at, int32_t i, clv_error *err)
{
    clv_constraint *rule = &r->out->at[i];
    char label[128], message[CLV_MESSAGE_SIZE];
    if (clv_json_is_object(at)) {
        clv_json_at name;
        CLV_TRY(clv_json_member(at, "name", false, &name, err));
        if (name.json && clv_json_is_string(&name))
            CLV_TRY(clv_json_copy_string(&name, r->arena, &rule->name, err));
    }
    r->n_says = 0;
    r->rule = clv_constraint_label(r->out, i, label, sizeof label);
    r->out->n = i + 1;
    clv_status status = read_rule(r, at, rule, err);
    if (status == CLV_OK) {
        rule->says = clv_arena_printf(r->arena, "%s", r->says);
        return rule->says ? CLV_OK : no_memory(err);
    }
    if (err && rule->name && err->status != CLV_ENOMEM) {
        memcpy(message, err->message, sizeof message);
        clv_fail(err, err->status, "%.400s (rule '%.80s')", message, rule->name);
    }
    return status;
}

static clv_status read_tree(reader *r, const clv_json_at *root, clv_error *err)
{
    static const char *const keys[] = { "$schema", "rules", NULL };
    clv_json_at list, at = { 0 };
    int32_t n = 0;
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_json_member(root, "rules", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n > RULES_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s has %d rules, expected at most %d",
                        CLV_CONSTRAINTS_PATH(&list), n, RULES_MAX);
    r->out->at = CLV_NEW_ARRAY(r->arena, clv_constraint, n);
    if (!r->out->at)
        return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(read_named_rule(r, &at, i, err));
    }
    return CLV_OK;
}

static clv_status map_names(reader *r, clv_error *err)
{
    CLV_TRY(clv_map_init(&r->labels, r->arena, r->g->n_ops, err));
    for (int32_t i = 0; i < r->g->n_ops; i++)
        CLV_TRY(clv_map_put(&r->labels, r->g->ops[i].label, i, NULL, err));
    CLV_TRY(clv_map_init(&r->devices, r->arena, r->cluster->n_devices, err));
    for (int32_t d = 0; d < r->cluster->n_devices; d++)
        CLV_TRY(clv_map_put(&r->devices, clv_str_of(r->cluster->devices[d].name), d, NULL, err));
    return CLV_OK;
}

clv_status clv_constraints_parse(const char *text, const clv_graph *g, const clv_cluster *cluster,
                                 clv_arena *arena, clv_constraints *ret, clv_error *err)
{
    int32_t n = cluster->n_devices;
    clv_json *json = NULL;
    clv_constraints out = { .n_devices = n, .words = clv_bits_words(n) };
    reader r = { .g = g,
                 .cluster = cluster,
                 .arena = arena,
                 .out = &out,
                 .in = CLV_NEW_ARRAY(arena, bool, g->n_ops),
                 .side = CLV_NEW_ARRAY(arena, bool, g->n_ops) };
    if (!r.in || !r.side)
        return no_memory(err);
    CLV_TRY(map_names(&r, err));
    CLV_TRY(clv_json_parse(text, strlen(text), "constraints", &json, err));
    clv_json_at root = clv_json_root(json, "constraints");
    clv_status status = read_tree(&r, &root, err);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = out;
    return status;
}
