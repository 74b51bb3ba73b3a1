#include "lower/olive.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"

#define WHAT "split assignments"

/* What Olive makes of the name of a node, and the stage that it is to have. */
typedef struct {
    clv_str key;
    int32_t stage, op;
    int32_t shared; /* bytes of the key's prefix that nodes of other stages have too; -1: none */
} entry;

typedef struct {
    const clv_graph *g;
    const clv_plan *plan;
    clv_arena *arena;
    entry *entries;
    int32_t n_entries;
    clv_map splits;       /* by assignment: its split */
    clv_op *through;      /* of an operator that Identity hands on: who made it; else itself */
    int32_t *split;       /* of each operator, as Olive would choose; -1: none yet */
    int32_t *least_child; /* of the splits of its readers; INT32_MAX: none yet */
} naming;

static int32_t stage_of(const naming *n, int32_t op)
{
    return n->plan->devices[n->plan->device_of_op[n->g->ops[op].file_index]].stage;
}

/* Taken out before anything is assigned. */
static bool is_removed(const clv_op_info *op)
{
    return op->domain.n == 0 && clv_str_is(op->type, "Identity");
}

/* Copied to whoever reads it. */
static bool is_copied(const clv_op_info *op)
{
    return clv_str_is(op->type, "Constant") || clv_str_is(op->type, "DequantizeLinear");
}

/* Its name counts. */
static bool is_named(const clv_op_info *op)
{
    return op->name.n > 0 && !is_removed(op) && !is_copied(op) &&
           !clv_str_is(op->type, "QuantizeLinear");
}

/* "/encoder/layer.0/Add" -> "encoder.layer.0.Add" */
static clv_status key_of(const naming *n, clv_str name, clv_str *ret, clv_error *err)
{
    int32_t skipped = 0;
    char *text = clv_arena_take(n->arena, (size_t)name.n + 1);
    if (!text)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < name.n; i++)
        text[i] = name.at[i] == '/' ? '.' : name.at[i];
    while (skipped < name.n && text[skipped] == '.')
        skipped++;
    *ret = (clv_str){ text + skipped, name.n - skipped };
    return CLV_OK;
}

/* -- prefixes -- */

/* Component by component: '.' comes before all else, so that those that share components stand
 * together. */
static int by_component(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int32_t n = x->key.n < y->key.n ? x->key.n : y->key.n;
    for (int32_t i = 0; i < n; i++) {
        int p = (unsigned char)x->key.at[i], q = (unsigned char)y->key.at[i];
        if (p != q)
            return (p == '.' ? -1 : p) - (q == '.' ? -1 : q);
    }
    if (x->key.n != y->key.n)
        return x->key.n < y->key.n ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

/* How many bytes of components two keys begin with; -1: not even the first one. */
static int32_t shared_of(clv_str a, clv_str b)
{
    int32_t n = a.n < b.n ? a.n : b.n, end = -1;
    for (int32_t i = 0; i <= n; i++) {
        bool ends_a = i == a.n || a.at[i] == '.', ends_b = i == b.n || b.at[i] == '.';
        if (ends_a && ends_b)
            end = i;
        if (i == n || a.at[i] != b.at[i])
            break;
    }
    return end;
}

/* Neighbours of another stage share the most; those between take the least on the way to them. */
static void find_shared(entry *at, int32_t n)
{
    for (int32_t i = 0, reach = -1; i < n; i++) {
        int32_t shared = i ? shared_of(at[i - 1].key, at[i].key) : -1;
        bool edge = i && at[i - 1].stage != at[i].stage;
        reach = edge || shared < reach ? shared : reach;
        at[i].shared = reach;
    }
    for (int32_t i = n - 1, reach = -1; i >= 0; i--) {
        int32_t shared = i + 1 < n ? shared_of(at[i].key, at[i + 1].key) : -1;
        bool edge = i + 1 < n && at[i + 1].stage != at[i].stage;
        reach = edge || shared < reach ? shared : reach;
        at[i].shared = reach > at[i].shared ? reach : at[i].shared;
    }
}

/* One component more than what others share, or all of it. */
static clv_str prefix_of(const entry *e)
{
    int32_t end = e->shared + 1;
    while (end < e->key.n && e->key.at[end] != '.')
        end++;
    return (clv_str){ e->key.at, end < e->key.n ? end : e->key.n };
}

static clv_status list_entries(naming *n, clv_error *err)
{
    n->entries = CLV_NEW_ARRAY(n->arena, entry, n->g->n_ops);
    if (!n->entries)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < n->g->n_ops; i++) {
        if (!is_named(&n->g->ops[i]))
            continue;
        entry *e = &n->entries[n->n_entries];
        *e = (entry){ .stage = stage_of(n, i), .op = i };
        CLV_TRY(key_of(n, n->g->ops[i].name, &e->key, err));
        n->n_entries += e->key.n > 0;
    }
    if (n->n_entries > 1)
        qsort(n->entries, (size_t)n->n_entries, sizeof *n->entries, by_component);
    find_shared(n->entries, n->n_entries);
    return CLV_OK;
}

static clv_status write_text(naming *n, char **ret, clv_error *err)
{
    enum { NUMBER = 16 }; /* bytes of "=", a number and ";" */
    size_t room = 1, at = 0;
    for (int32_t i = 0; i < n->n_entries; i++)
        room += (size_t)prefix_of(&n->entries[i]).n + NUMBER;
    char *text = clv_arena_take(n->arena, room);
    if (!text)
        return clv_fail_nomem(err, WHAT);
    *text = '\0';
    CLV_TRY(clv_map_init(&n->splits, n->arena, n->n_entries, err));
    for (int32_t i = 0; i < n->n_entries; i++) {
        clv_str prefix = prefix_of(&n->entries[i]);
        /* the text is read up to ';', in two parts around one '=' */
        bool can_be_written = prefix.n > 0 && !memchr(prefix.at, ';', (size_t)prefix.n) &&
                              !memchr(prefix.at, '=', (size_t)prefix.n);
        int32_t id;
        if (!can_be_written || clv_map_get(&n->splits, prefix) >= 0)
            continue;
        CLV_TRY(clv_map_put(&n->splits, prefix, n->entries[i].stage, &id, err));
        at += (size_t)snprintf(text + at, room - at, "%s%.*s=%d", at ? ";" : "",
                               CLV_STR_ARG(prefix), (int)n->entries[i].stage);
    }
    *ret = text;
    return CLV_OK;
}

/* -- what Olive makes of it -- */

/* The assignment of a name, components dropped from its end until there is one; -1: none. */
static clv_status match(const naming *n, clv_str name, int32_t *ret, clv_error *err)
{
    clv_str key;
    CLV_TRY(key_of(n, name, &key, err));
    *ret = -1;
    while (key.n > 0 && (*ret = clv_map_get(&n->splits, key)) < 0) {
        do
            key.n--;
        while (key.n > 0 && key.at[key.n] != '.');
    }
    return CLV_OK;
}

/* Who makes an explicit input, through what is removed; CLV_NO_OP: nobody. */
static clv_op writer_of(const naming *n, const clv_op_info *op, int32_t k)
{
    clv_tensor t = clv_op_input(n->g, op, k);
    clv_op writer = t.i >= 0 ? clv_tensor_at(n->g, t)->producer : CLV_NO_OP;
    return writer.i >= 0 ? n->through[writer.i] : CLV_NO_OP;
}

/* In order: by its name, but no earlier than what it reads. */
static clv_status assign_forward(naming *n, clv_error *err)
{
    for (int32_t i = 0; i < n->g->n_ops; i++) {
        const clv_op_info *op = &n->g->ops[i];
        n->least_child[i] = INT32_MAX;
        n->split[i] = -1;
        n->through[i] = is_removed(op) ? writer_of(n, op, 0) : (clv_op){ i };
        if (is_removed(op) || clv_str_is(op->type, "Constant"))
            continue;
        if (is_named(op))
            CLV_TRY(match(n, op->name, &n->split[i], err));
        for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
            clv_op writer = writer_of(n, op, k);
            if (writer.i >= 0 && n->split[writer.i] > n->split[i])
                n->split[i] = n->split[writer.i];
        }
    }
    return CLV_OK;
}

/* In reverse: what is left goes to the earliest of its readers. */
static void assign_backward(naming *n)
{
    for (int32_t i = n->g->n_ops - 1; i >= 0; i--) {
        const clv_op_info *op = &n->g->ops[i];
        if (is_removed(op) || clv_str_is(op->type, "Constant"))
            continue;
        if (n->split[i] < 0)
            n->split[i] = n->least_child[i] == INT32_MAX ? 0 : n->least_child[i];
        for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
            clv_op writer = writer_of(n, op, k);
            if (writer.i >= 0 && n->split[i] < n->least_child[writer.i])
                n->least_child[writer.i] = n->split[i];
        }
    }
}

static clv_status check_splits(const naming *n, clv_error *err)
{
    bool *used = CLV_NEW_ARRAY(n->arena, bool, n->plan->n_stages);
    if (!used)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < n->n_entries; i++)
        used[n->entries[i].stage] = true;
    for (int32_t i = 0; i < n->g->n_ops; i++) {
        const clv_op_info *op = &n->g->ops[i];
        int32_t stage = stage_of(n, i);
        if (!is_removed(op) && !is_copied(op) && n->split[i] != stage)
            return clv_fail(err, CLV_EFORMAT,
                            "node '%.*s' would come into split %d of Olive, which goes by the "
                            "names of nodes and of those they read from, but the plan has it in "
                            "stage %d: use --form stages",
                            CLV_STR_ARG(op->label), (int)n->split[i], (int)stage);
    }
    for (int32_t s = 0; s < n->plan->n_stages; s++)
        if (!used[s])
            return clv_fail(err, CLV_EFORMAT,
                            "stage %d of the plan has no node that split assignments could name: "
                            "use --form stages",
                            (int)s);
    return CLV_OK;
}

/* Only explicit inputs are brought into a split. */
static clv_status check_bodies(const naming *n, clv_error *err)
{
    for (int32_t i = 0; i < n->g->n_ops; i++) {
        const clv_op_info *op = &n->g->ops[i];
        if (op->n_implicit == 0)
            continue;
        clv_tensor t = clv_op_input(n->g, op, clv_op_n_explicit(op));
        return clv_fail(err, CLV_EUNSUPP,
                        "a body of node '%.*s' takes '%.*s' from around it, which Olive does not "
                        "bring along: use --form stages",
                        CLV_STR_ARG(op->label), CLV_STR_ARG(clv_tensor_at(n->g, t)->name));
    }
    return CLV_OK;
}

clv_status clv_olive_assignments(const clv_model *model, const clv_plan *plan, clv_arena *arena,
                                 const char **ret, clv_error *err)
{
    naming n = { .g = model->main, .plan = plan, .arena = arena };
    char *text = NULL;
    n.through = CLV_NEW_ARRAY(arena, clv_op, model->main->n_ops);
    n.split = CLV_NEW_ARRAY(arena, int32_t, model->main->n_ops);
    n.least_child = CLV_NEW_ARRAY(arena, int32_t, model->main->n_ops);
    if (!n.through || !n.split || !n.least_child)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(check_bodies(&n, err));
    CLV_TRY(list_entries(&n, err));
    CLV_TRY(write_text(&n, &text, err));
    CLV_TRY(assign_forward(&n, err));
    assign_backward(&n);
    CLV_TRY(check_splits(&n, err));
    *ret = text;
    return CLV_OK;
}
