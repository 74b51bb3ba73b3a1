/* constraints.c - the rules of a constraints file, one by one, and who breaks them. */
#include "rules/constraints.h"

#include <stdio.h>

#include "graph/ops.h"
#include "rules/split_rules.h"

#define RULES_MAX  65536
#define STAGES_MAX 65536 /* as in a plan file */

#define SHOW(at)   clv_json_path((at), (char[256]){ 0 }, 256)

typedef struct {
    const clv_graph *g;
    const char *const *device_names;
    clv_arena *arena;
    clv_map labels, devices;
    clv_node_reader nodes;
    clv_constraints *out;
    bool *in, *side; /* scratch: n_ops */
    int64_t n_members;
    clv_error *err;
} reader;

static clv_status nomem(reader *r) { return clv_fail_nomem(r->err, "constraints"); }

static uint64_t *new_set(reader *r) { return CLV_NEW_ARRAY(r->arena, uint64_t, r->out->words); }

static bool has_bit(const uint64_t *set, int32_t i) { return set[i / 64] >> (i % 64) & 1; }
static void set_bit(uint64_t *set, int32_t i) { set[i / 64] |= UINT64_C(1) << (i % 64); }

/* -- sets of operators -- */

/* What is marked becomes the rule's next set. */
static clv_status add_set(reader *r, clv_rule *rule, const bool *in)
{
    int32_t n = 0, first = rule->n_sets ? rule->set_first[rule->n_sets] : 0;
    for (int32_t i = 0; i < r->g->n_ops; i++)
        n += in[i];
    r->n_members += n;
    if (r->n_members > CLV_RULE_MEMBERS_MAX)
        return clv_fail(r->err, CLV_ELIMIT, "the rules name more than %d operators",
                        CLV_RULE_MEMBERS_MAX);
    clv_op *ops =
        clv_arena_grow(r->arena, rule->ops, (size_t)first, (size_t)first + (size_t)n, sizeof *ops);
    int32_t *set_first = clv_arena_grow(r->arena, rule->set_first, (size_t)rule->n_sets + 1,
                                        (size_t)rule->n_sets + 2, sizeof *set_first);
    if (!ops || !set_first)
        return nomem(r);
    for (int32_t i = 0, at = first; i < r->g->n_ops; i++)
        if (in[i])
            ops[at++] = (clv_op){ i };
    rule->ops = ops;
    rule->set_first = set_first;
    rule->set_first[++rule->n_sets] = first + n;
    return CLV_OK;
}

static void clear_marks(reader *r)
{
    if (r->g->n_ops > 0)
        memset(r->in, 0, (size_t)r->g->n_ops * sizeof *r->in);
}

static clv_status read_set(reader *r, const clv_json_at *at, clv_rule *rule)
{
    clear_marks(r);
    CLV_TRY(clv_constraint_nodes(&r->nodes, at, r->in, r->err));
    return add_set(r, rule, r->in);
}

static int32_t set_size(const clv_rule *rule, int32_t set)
{
    return rule->set_first[set + 1] - rule->set_first[set];
}

/* why NULL: it was told that nothing matches. */
static clv_status note_unused(reader *r, clv_rule *rule, const char *why)
{
    rule->unused = true;
    if (!why)
        return CLV_OK;
    return clv_constraint_warn(
        &r->nodes, clv_arena_printf(r->arena, "%s binds nothing: %s", r->nodes.rule, why), r->err);
}

/* -- place -- */

static clv_status read_device(reader *r, const clv_json_at *at, int32_t *ret)
{
    int64_t number = -1;
    const char *name = NULL;
    if (!clv_json_is_string(at)) {
        CLV_TRY(clv_json_int(at, 0, r->out->n_devices - 1, &number, r->err));
        *ret = (int32_t)number;
        return CLV_OK;
    }
    CLV_TRY(clv_json_string(at, &name, r->err));
    *ret = clv_map_get(&r->devices, clv_str_of(name));
    if (*ret >= 0)
        return CLV_OK;
    return clv_fail(r->err, CLV_EFORMAT,
                    "%s is '%.80s', expected a device of this run: 0 to %d, or '%.80s' to '%.80s'",
                    SHOW(at), name, r->out->n_devices - 1, r->device_names[0],
                    r->device_names[r->out->n_devices - 1]);
}

/* A stage that so many devices cannot have is in no set. */
static clv_status read_number(reader *r, const clv_json_at *at, bool stages, uint64_t *set)
{
    int64_t stage = 0;
    int32_t number = 0;
    if (stages) {
        CLV_TRY(clv_json_int(at, 0, STAGES_MAX, &stage, r->err));
        clv_constraint_say(&r->nodes, "%d", (int)stage);
        number = stage < r->out->n_devices ? (int32_t)stage : -1;
    } else {
        CLV_TRY(read_device(r, at, &number));
        clv_constraint_say(&r->nodes, "%d", (int)number);
    }
    if (number >= 0)
        set_bit(set, number);
    return CLV_OK;
}

static clv_status read_numbers(reader *r, const clv_json_at *at, bool stages, uint64_t *set)
{
    int32_t n = 0;
    clv_json_at element = { 0 };
    if (!clv_json_is_array(at))
        return read_number(r, at, stages, set);
    CLV_TRY(clv_json_length(at, &n, r->err));
    if (n == 0)
        return clv_fail(r->err, CLV_EFORMAT, "%s is empty, expected at least one %s", SHOW(at),
                        stages ? "stage" : "device");
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        if (i > 0)
            clv_constraint_say(&r->nodes, " or ");
        CLV_TRY(read_number(r, &element, stages, set));
    }
    return CLV_OK;
}

/* "on" and "not_on", or "stage" and "not_stage": *ret stays NULL where neither is there. */
static clv_status read_where(reader *r, const clv_json_at *object, const char *const *keys,
                             bool stages, uint64_t **ret)
{
    for (int negative = 0; negative < 2; negative++) {
        clv_json_at at;
        CLV_TRY(clv_json_member(object, keys[negative], false, &at, r->err));
        if (!at.json)
            continue;
        uint64_t *set = new_set(r);
        if (!set)
            return nomem(r);
        clv_constraint_say(&r->nodes, " %s%s ", negative ? "not " : "",
                           stages ? "at stage" : "on device");
        CLV_TRY(read_numbers(r, &at, stages, set));
        uint64_t *both = *ret ? *ret : new_set(r);
        if (!both)
            return nomem(r);
        for (int32_t i = 0; i < r->out->n_devices && !*ret; i++)
            set_bit(both, i);
        for (size_t w = 0; w < r->out->words; w++)
            both[w] &= negative ? ~set[w] : set[w];
        *ret = both;
    }
    return CLV_OK;
}

static clv_status read_place(reader *r, const clv_json_at *object, const clv_json_at *at,
                             clv_rule *rule)
{
    static const char *const on[] = { "on", "not_on" }, *const stage[] = { "stage", "not_stage" };
    rule->kind = CLV_RULE_PLACE;
    clv_constraint_say(&r->nodes, "place ");
    CLV_TRY(read_set(r, at, rule));
    CLV_TRY(read_where(r, object, on, false, &rule->devices));
    CLV_TRY(read_where(r, object, stage, true, &rule->stages));
    if (!rule->devices && !rule->stages)
        return clv_fail(
            r->err, CLV_EFORMAT,
            "%s says \"place\" without where: expected \"on\", \"not_on\", \"stage\" or "
            "\"not_stage\"",
            SHOW(object));
    return set_size(rule, 0) > 0 ? CLV_OK : note_unused(r, rule, NULL);
}

/* -- together, apart -- */

static clv_status read_together(reader *r, const clv_json_at *at, clv_rule *rule)
{
    rule->kind = CLV_RULE_TOGETHER;
    clv_constraint_say(&r->nodes, "together ");
    CLV_TRY(read_set(r, at, rule));
    int32_t n = set_size(rule, 0);
    if (n > 1)
        return CLV_OK;
    return note_unused(r, rule, n ? "only one operator matches" : NULL);
}

/* Sets without operators fall away. */
static clv_status read_apart(reader *r, const clv_json_at *at, clv_rule *rule)
{
    int32_t n = 0, n_filled = 0;
    clv_json_at element = { 0 };
    rule->kind = CLV_RULE_APART;
    if (clv_json_is_array(at))
        CLV_TRY(clv_json_length(at, &n, r->err));
    if (n < 2)
        return clv_fail(
            r->err, CLV_EFORMAT,
            "%s: expected a list of two or more to be kept apart; for all nodes that one "
            "name matches, say \"each_apart\"",
            SHOW(at));
    clv_constraint_say(&r->nodes, "apart ");
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        if (i > 0)
            clv_constraint_say(&r->nodes, " | ");
        CLV_TRY(read_set(r, &element, rule));
        n_filled += set_size(rule, i) > 0;
    }
    return n_filled > 1 ? CLV_OK : note_unused(r, rule, "fewer than two of its sets match");
}

static clv_status read_each_apart(reader *r, const clv_json_at *at, clv_rule *rule)
{
    clv_rule all = { .n_sets = 0 };
    rule->kind = CLV_RULE_APART;
    clv_constraint_say(&r->nodes, "each apart ");
    CLV_TRY(read_set(r, at, &all));
    int32_t n = rule->n_sets = set_size(&all, 0);
    rule->ops = all.ops;
    rule->set_first = CLV_NEW_ARRAY(r->arena, int32_t, (size_t)n + 1);
    if (!rule->set_first)
        return nomem(r);
    for (int32_t i = 0; i <= n; i++)
        rule->set_first[i] = i;
    if (n > 1)
        return CLV_OK;
    return note_unused(r, rule, n ? "only one operator matches" : NULL);
}

/* -- boundaries -- */

/* Marks all that the marked ones need. */
static void mark_before(const reader *r, bool *in)
{
    for (int32_t i = r->g->n_ops - 1; i >= 0; i--) {
        const clv_op_info *op = &r->g->ops[i];
        for (int32_t k = 0; in[i] && k < op->n_in; k++) {
            clv_tensor t = clv_op_input(r->g, op, k);
            clv_op from = t.i < 0 ? CLV_NO_OP : clv_tensor_at(r->g, t)->producer;
            if (from.i >= 0)
                in[from.i] = true;
        }
    }
}

/* Marks all that needs the marked ones. */
static void mark_after(const reader *r, bool *in)
{
    for (int32_t i = 0; i < r->g->n_ops; i++) {
        const clv_op_info *op = &r->g->ops[i];
        for (int32_t k = 0; !in[i] && k < op->n_in; k++) {
            clv_tensor t = clv_op_input(r->g, op, k);
            clv_op from = t.i < 0 ? CLV_NO_OP : clv_tensor_at(r->g, t)->producer;
            in[i] = from.i >= 0 && in[from.i];
        }
    }
}

/* The marked ones but those that are marked in but. Constant nodes are wherever they are needed, so
 * they are on neither side. */
static clv_status add_side(reader *r, clv_rule *rule, bool *in, const bool *but)
{
    for (int32_t i = 0; i < r->g->n_ops; i++) {
        int32_t kind = r->g->ops[i].kind;
        bool constant = kind >= 0 && clv_op_def_at(kind)->bytes == CLV_BYTES_CONST;
        in[i] = in[i] && !constant && !(but && but[i]);
    }
    return add_set(r, rule, in);
}

/* The nodes themselves are before it, or after it, and so is all that is on both sides of them. */
static clv_status read_boundary(reader *r, const clv_json_at *at, bool after, clv_rule *rule)
{
    bool any = false, *before = r->in, *behind = r->side;
    rule->kind = CLV_RULE_BOUNDARY;
    clv_constraint_say(&r->nodes, "stage boundary %s ", after ? "after" : "before");
    clear_marks(r);
    CLV_TRY(clv_constraint_nodes(&r->nodes, at, before, r->err));
    for (int32_t i = 0; i < r->g->n_ops; i++) {
        behind[i] = before[i];
        any |= before[i];
    }
    mark_before(r, before);
    mark_after(r, behind);
    CLV_TRY(add_side(r, rule, before, after ? NULL : behind));
    CLV_TRY(add_side(r, rule, behind, after ? before : NULL));
    if (!any)
        return note_unused(r, rule, NULL);
    if (set_size(rule, 0) > 0 && set_size(rule, 1) > 0)
        return CLV_OK;
    return note_unused(r, rule, set_size(rule, 0) ? "nothing comes after" : "nothing comes before");
}

/* -- rules -- */

static clv_status read_max_stages(reader *r, const clv_json_at *at, clv_rule *rule)
{
    int64_t n = 0;
    rule->kind = CLV_RULE_MAX_STAGES;
    CLV_TRY(clv_json_int(at, 1, STAGES_MAX, &n, r->err));
    rule->max_stages = (int32_t)n;
    clv_constraint_say(&r->nodes, "at most %d stage%s", (int)n, n == 1 ? "" : "s");
    return CLV_OK;
}

static clv_status read_kind(reader *r, const clv_json_at *object, int kind, const clv_json_at *at,
                            clv_rule *rule)
{
    switch (kind) {
    case 0:
        return read_place(r, object, at, rule);
    case 1:
        return read_together(r, at, rule);
    case 2:
        return read_apart(r, at, rule);
    case 3:
        return read_each_apart(r, at, rule);
    case 4:
    case 5:
        return read_boundary(r, at, kind == 4, rule);
    case 6:
        return read_max_stages(r, at, rule);
    default:
        return clv_split_rule_read(&r->nodes, (clv_rule_kind)(CLV_RULE_SPLIT + kind - 7), object,
                                   at, r->in, &r->n_members, rule, r->err);
    }
}

static clv_status read_text(reader *r, const clv_json_at *object, const char *key, const char **ret)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(object, key, false, &at, r->err));
    return at.json ? clv_json_copy_string(&at, r->arena, ret, r->err) : CLV_OK;
}

/* What goes with some rules only. */
static clv_status check_company(reader *r, const clv_json_at *object, const char *kind)
{
    /* key, and the one or two kinds that it goes with */
    static const char *const with[][3] = { { "on", "place" },           { "not_on", "place" },
                                           { "stage", "place" },        { "not_stage", "place" },
                                           { "dim", "split" },          { "factor", "split" },
                                           { "over", "split", "whole" } };
    for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
        const char *const *w = with[k];
        clv_json_at at;
        CLV_TRY(clv_json_member(object, w[0], false, &at, r->err));
        if (!at.json || strcmp(kind, w[1]) == 0 || (w[2] && strcmp(kind, w[2]) == 0))
            continue;
        return clv_fail(r->err, CLV_EFORMAT, "%s has \"%s\", which goes with \"%s\"%s%s%s only",
                        SHOW(object), w[0], w[1], w[2] ? " and \"" : "", w[2] ? w[2] : "",
                        w[2] ? "\"" : "");
    }
    return CLV_OK;
}

static clv_status read_rule(reader *r, const clv_json_at *object, clv_rule *rule)
{
    static const char *const kinds[] = { "place",        "together",       "apart",
                                         "each_apart",   "boundary_after", "boundary_before",
                                         "max_stages",   "split",          "whole",
                                         "data_parallel" };
    static const char *const keys[] = {
        "name",          "why",   "place",     "together",   "apart",          "on",
        "not_on",        "stage", "not_stage", "each_apart", "boundary_after", "boundary_before",
        "max_stages",    "split", "dim",       "factor",     "over",           "whole",
        "data_parallel", NULL
    };
    const int n_kinds = sizeof kinds / sizeof *kinds;
    clv_json_at found = { 0 }, at;
    int kind = -1;
    CLV_TRY(clv_json_keys(object, keys, r->err));
    CLV_TRY(read_text(r, object, "name", &rule->name));
    CLV_TRY(read_text(r, object, "why", &rule->why));
    for (int k = 0; k < n_kinds; k++) {
        CLV_TRY(clv_json_member(object, kinds[k], false, &at, r->err));
        if (at.json && kind >= 0)
            return clv_fail(r->err, CLV_EFORMAT, "%s has \"%s\" and \"%s\", expected one of them",
                            SHOW(object), kinds[kind], kinds[k]);
        if (!at.json)
            continue;
        kind = k;
        found = at;
    }
    if (kind < 0)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s says nothing, expected \"place\", \"together\", \"apart\", "
                        "\"each_apart\", \"boundary_after\", \"boundary_before\", "
                        "\"max_stages\", \"split\", \"whole\" or \"data_parallel\"",
                        SHOW(object));
    CLV_TRY(check_company(r, object, kinds[kind]));
    return read_kind(r, object, kind, &found, rule);
}

const char *clv_rule_label(const clv_constraints *c, int32_t rule, char *buf, size_t size)
{
    const char *name = c->at[rule].name;
    if (name)
        snprintf(buf, size, "rules[%d] '%.80s'", (int)rule, name);
    else
        snprintf(buf, size, "rules[%d]", (int)rule);
    return buf;
}

/* A fault of a rule with a name is told with it. */
static void add_name(reader *r, const clv_rule *rule)
{
    char message[CLV_MESSAGE_SIZE];
    if (!r->err || !rule->name || r->err->status == CLV_ENOMEM)
        return;
    memcpy(message, r->err->message, sizeof message);
    clv_fail(r->err, r->err->status, "%.400s (rule '%.80s')", message, rule->name);
}

static clv_status read_rules(reader *r, const clv_json_at *list)
{
    int32_t n = 0;
    clv_json_at at = { 0 };
    char label[128];
    CLV_TRY(clv_json_length(list, &n, r->err));
    if (n > RULES_MAX)
        return clv_fail(r->err, CLV_ELIMIT, "%s has %d rules, expected at most %d", SHOW(list), n,
                        RULES_MAX);
    r->out->at = CLV_NEW_ARRAY(r->arena, clv_rule, n);
    if (!r->out->at)
        return nomem(r);
    for (int32_t i = 0; i < n; i++) {
        clv_rule *rule = &r->out->at[i];
        at = clv_json_element(list, i, i ? &at : NULL);
        r->nodes.n_says = 0;
        if (clv_json_is_object(&at)) { /* its name is wanted before all else */
            clv_json_at name;
            CLV_TRY(clv_json_member(&at, "name", false, &name, r->err));
            if (name.json && clv_json_is_string(&name))
                CLV_TRY(clv_json_copy_string(&name, r->arena, &rule->name, r->err));
        }
        r->nodes.rule = clv_rule_label(r->out, i, label, sizeof label);
        r->out->n = i + 1;
        clv_status status = read_rule(r, &at, rule);
        if (status != CLV_OK) {
            add_name(r, rule);
            return status;
        }
        rule->says = clv_arena_printf(r->arena, "%s", r->nodes.says);
        if (!rule->says)
            return nomem(r);
    }
    return CLV_OK;
}

static clv_status read_tree(reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "$schema", "rules", NULL };
    clv_json_at list;
    CLV_TRY(clv_json_keys(root, keys, r->err));
    CLV_TRY(clv_json_member(root, "rules", true, &list, r->err));
    return read_rules(r, &list);
}

static clv_status prepare(reader *r)
{
    r->in = CLV_NEW_ARRAY(r->arena, bool, r->g->n_ops);
    r->side = CLV_NEW_ARRAY(r->arena, bool, r->g->n_ops);
    if (!r->in || !r->side)
        return nomem(r);
    CLV_TRY(clv_map_init(&r->labels, r->arena, r->g->n_ops, r->err));
    for (int32_t i = 0; i < r->g->n_ops; i++)
        CLV_TRY(clv_map_put(&r->labels, r->g->ops[i].label, i, NULL, r->err));
    CLV_TRY(clv_map_init(&r->devices, r->arena, r->out->n_devices, r->err));
    for (int32_t d = 0; d < r->out->n_devices; d++)
        CLV_TRY(clv_map_put(&r->devices, clv_str_of(r->device_names[d]), d, NULL, r->err));
    r->nodes =
        (clv_node_reader){ .g = r->g, .arena = r->arena, .labels = &r->labels, .out = r->out };
    return CLV_OK;
}

clv_status clv_constraints_parse(const char *text, size_t n, const clv_graph *g,
                                 const char *const *device_names, int32_t n_devices,
                                 clv_arena *arena, clv_constraints *ret, clv_error *err)
{
    clv_json *json = NULL;
    clv_constraints out = { .n_devices = n_devices, .words = ((size_t)n_devices + 63) / 64 };
    reader r = { .g = g, .device_names = device_names, .arena = arena, .out = &out, .err = err };
    CLV_TRY(prepare(&r));
    CLV_TRY(clv_json_parse(text, n, "constraints", &json, err));
    clv_json_at root = clv_json_root(json, "constraints");
    clv_status status = read_tree(&r, &root);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = out;
    return status;
}

/* -- who breaks them -- */

static bool place_obeys(const clv_rule *rule, const int32_t *device_of, const int32_t *stage_of,
                        int32_t n_devices)
{
    for (int32_t i = 0; i < rule->set_first[1]; i++) {
        int32_t d = device_of[rule->ops[i].i], stage = stage_of[d];
        if (rule->devices && !has_bit(rule->devices, d))
            return false;
        if (rule->stages && (stage >= n_devices || !has_bit(rule->stages, stage)))
            return false;
    }
    return true;
}

/* set_on: by device, scratch. */
static bool sets_obey(const clv_rule *rule, const int32_t *device_of, int32_t *set_on,
                      int32_t n_devices)
{
    for (int32_t d = 0; d < n_devices; d++)
        set_on[d] = -1;
    for (int32_t set = 0; set < rule->n_sets; set++)
        for (int32_t i = rule->set_first[set]; i < rule->set_first[set + 1]; i++) {
            int32_t d = device_of[rule->ops[i].i];
            if (set_on[d] >= 0 && set_on[d] != set)
                return false;
            set_on[d] = set;
        }
    return true;
}

static bool together_obeys(const clv_rule *rule, const int32_t *device_of)
{
    for (int32_t i = 1; i < rule->set_first[1]; i++)
        if (device_of[rule->ops[i].i] != device_of[rule->ops[0].i])
            return false;
    return true;
}

static bool boundary_obeys(const clv_rule *rule, const int32_t *device_of, const int32_t *stage_of)
{
    int32_t last = -1, first = INT32_MAX;
    for (int32_t i = 0; i < rule->set_first[1]; i++)
        if (stage_of[device_of[rule->ops[i].i]] > last)
            last = stage_of[device_of[rule->ops[i].i]];
    for (int32_t i = rule->set_first[1]; i < rule->set_first[2]; i++)
        if (stage_of[device_of[rule->ops[i].i]] < first)
            first = stage_of[device_of[rule->ops[i].i]];
    return last < first;
}

static bool rule_obeys(const clv_constraints *c, const clv_rule *rule, const int32_t *device_of,
                       const int32_t *stage_of, int32_t n_stages, int32_t *set_on)
{
    switch (rule->kind) {
    case CLV_RULE_PLACE:
        return place_obeys(rule, device_of, stage_of, c->n_devices);
    case CLV_RULE_TOGETHER:
        return together_obeys(rule, device_of);
    case CLV_RULE_APART:
        return sets_obey(rule, device_of, set_on, c->n_devices);
    case CLV_RULE_BOUNDARY:
        return boundary_obeys(rule, device_of, stage_of);
    case CLV_RULE_MAX_STAGES:
        return n_stages <= rule->max_stages;
    case CLV_RULE_SPLIT:
    case CLV_RULE_WHOLE:
    case CLV_RULE_DATA_PARALLEL:
        return true; /* whatever the placement */
    }
    return false;
}

int32_t clv_constraints_broken(const clv_constraints *c, const int32_t *device_of,
                               const int32_t *stage_of, int32_t n_stages, const bool *skip,
                               clv_arena *arena)
{
    clv_mark mark = clv_arena_mark(arena);
    int32_t *set_on = CLV_NEW_ARRAY(arena, int32_t, c->n_devices), broken = -1;
    for (int32_t i = 0; set_on && i < c->n && broken < 0; i++)
        if (!c->at[i].unused && !(skip && skip[i]) &&
            !rule_obeys(c, &c->at[i], device_of, stage_of, n_stages, set_on))
            broken = i;
    clv_arena_rewind(arena, mark);
    return broken;
}
