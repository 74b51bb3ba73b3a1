/* fuzz_constraints.c - any bytes as a constraints file: refused in words, or rules about operators,
 * devices and stages that there are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/constraints_read.h"
#include "support/line_model.h"

#define N_OPS     6
#define N_DEVICES 3

static void must(bool yes)
{
    if (!yes)
        abort();
}

/* a and b read x, c both of them; k is a Constant node that d reads with c; the last has no name.
 */
static const char *const lines[] = { "in x",
                                     "/a/Relu=Relu x ta",
                                     "/b/*=Gather x tb",
                                     "/c/Add=Add ta tb tc",
                                     "k=Constant tk",
                                     "d=Add tc tk td",
                                     "=Relu td y",
                                     "out y",
                                     NULL };

static void check_split(const clv_split_constraint *s, const clv_graph *g)
{
    must(s->n_axes >= 0 && s->n_axes <= 3);
    for (int32_t a = 0; a < s->n_axes; a++)
        must(s->axes[a] && s->axes[a][0]);
    must(s->dim >= -CLV_RANK_MAX && s->dim < CLV_RANK_MAX);
    must(!s->factor || (s->factor[0] && s->n_tensors == 0));
    for (int32_t i = 0; i < s->n_ops; i++)
        must(s->ops[i].i >= 0 && s->ops[i].i < N_OPS);
    for (int32_t i = 0; i < s->n_tensors; i++)
        must(s->tensors[i].i >= 0 && s->tensors[i].i < g->n_tensors);
}

static void check_rule(const clv_constraint *rule, const clv_graph *g)
{
    must((rule->kind >= CLV_CONSTRAINT_SPLIT) == (rule->split != NULL));
    if (rule->split)
        check_split(rule->split, g);
    must(rule->says && rule->says[0] && strlen(rule->says) < 400);
    must((rule->kind == CLV_CONSTRAINT_MAX_STAGES) == (rule->max_stages > 0));
    for (int32_t s = 0; s < rule->n_sets; s++)
        for (int32_t i = rule->set_first[s]; i < rule->set_first[s + 1]; i++) {
            must(rule->ops[i].i >= 0 && rule->ops[i].i < N_OPS);
            must(i == rule->set_first[s] || rule->ops[i - 1].i < rule->ops[i].i);
        }
    must(!rule->devices || rule->devices[0] >> N_DEVICES == 0);
    must(!rule->stages || rule->stages[0] >> N_DEVICES == 0);
}

static void check(const clv_constraints *c, const clv_graph *g, clv_arena *arena)
{
    int32_t device_of[N_OPS], stage_of[N_DEVICES] = { 0, 1, 2 }, set_on[N_DEVICES];
    clv_rule_placement placed = { device_of, stage_of, 3, set_on };
    char label[64];
    bool *skip = CLV_NEW_ARRAY(arena, bool, c->n);
    for (int32_t i = 0; i < c->n; i++) {
        check_rule(&c->at[i], g);
        must(strncmp(clv_constraint_label(c, i, label, sizeof label), "rules[", 6) == 0);
    }
    for (int32_t i = 0; i < c->n_warnings; i++)
        must(c->warnings[i] && c->warnings[i][0]);
    for (int k = 0; k < 27; k++) {
        for (int i = 0, rest = k; i < N_OPS; i++, rest = rest / 3 + i)
            device_of[i] = rest % 3;
        int32_t broken = clv_constraints_first_broken(c, &placed, skip);
        must(broken >= -1 && broken < c->n && (broken < 0 || !skip[broken]));
        if (broken >= 0)
            skip[broken] = true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const clv_device devices[N_DEVICES] = { { 0, "gpu0" }, { 0, "gpu1" }, { 0, "gpu2" } };
    clv_cluster cluster = { .n_devices = N_DEVICES, .devices = devices };
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clv_constraints c = { 0 };
    clv_error err = { 0 };
    must(arena != NULL);
    const clv_graph *g = line_model(arena, lines)->main;
    char *text = clv_arena_take(arena, size + 1);
    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    clv_status s = clv_constraints_parse(text, g, &cluster, arena, &c, &err);
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT || s == CLV_ENOMEM);
    must(s == CLV_OK || (err.message[0] && memchr(err.message, '\0', sizeof err.message)));
    if (s == CLV_OK)
        check(&c, g, arena);
    clv_arena_free(arena);
    return 0;
}
