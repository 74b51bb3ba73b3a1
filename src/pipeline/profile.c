#include "pipeline/profile.h"

#include <stdio.h>
#include <string.h>

#include "explain/experts.h"
#include "explain/layers.h"
#include "graph/backward.h"
#include "graph/constant.h"

/* -- the request -- */

/* An engine that knows heads is one that serves. */
static clv_status check_serves(const clv_request *req, clv_arena *arena, clv_error *err)
{
    bool *backward_op = NULL;
    if (!req->backend->heads)
        return CLV_OK;
    CLV_TRY(clv_backward_ops(req->model->main, req->backward, arena, &backward_op, err));
    return backward_op ? clv_fail(err, CLV_EUSAGE,
                                  "profile '%.40s' serves models, and this one has a backward pass",
                                  req->backend->name)
                       : CLV_OK;
}

clv_status clv_profile_check(const clv_request *req, clv_arena *arena, clv_error *err)
{
    const char *other = req->data_parallel    ? "--data-parallel"
                        : req->constraints    ? "--constraints"
                        : req->sharding_nodes ? "--sharding-nodes"
                        : req->compiler       ? "--compiler"
                                              : NULL;
    if (!req->backend)
        return CLV_OK;
    if (!other)
        return check_serves(req, arena, err);
    return clv_fail(err, CLV_EUSAGE,
                    "profile '%.40s' and %s exclude each other: what runs the plan decides how "
                    "tensors are split%s",
                    req->backend->name, other,
                    req->data_parallel ? ", and has copies of the model (--copies) in its place"
                                       : "");
}

clv_request clv_profile_left_out(const clv_request *req)
{
    clv_request free = *req;
    free.backend = NULL;
    free.terse = true;
    return free;
}

/* -- the command -- */

/* How a plan is dealt out to servers. */
typedef struct {
    int32_t tensor, stages, copies; /* of a server */
    int32_t experts;                /* devices that these are dealt out to; 1: they are not */
    int32_t servers, nodes;         /* in all; of each server */
    const char *layers;             /* of each stage; NULL: not known */
    bool uneven_layers;
} deployment;

/* Adds words, in which "{n}" is a value. NULL: no memory. */
static const char *add_words(const char *text, const char *words, const char *value,
                             clv_arena *arena)
{
    const char *at = words ? strstr(words, "{n}") : NULL;
    const char *between = text && *text ? " " : "";
    if (!text || !words)
        return text;
    return at ? clv_arena_printf(arena, "%s%s%.*s%s%s", text, between, (int)(at - words), words,
                                 value, at + 3)
              : clv_arena_printf(arena, "%s%s%s", text, between, words);
}

/* An option with a number, where that is more than 1. */
static const char *add_option(const char *text, const char *words, int32_t n, clv_arena *arena)
{
    char value[16];
    snprintf(value, sizeof value, "%d", (int)n);
    return n > 1 ? add_words(text, words, value, arena) : text;
}

static const char *command_line(const clv_backend_command *c, const deployment *d, clv_arena *arena)
{
    const char *text = "";
    if (d->uneven_layers)
        text = add_words(text, c->layers, d->layers, arena);
    text = add_option(text, c->launcher, d->nodes, arena);
    text = add_words(text, c->run, "", arena);
    text = add_option(text, c->tensor_parallel, d->tensor, arena);
    text = add_option(text, c->pipeline_parallel, d->stages, arena);
    text = add_option(text, c->copies, d->copies, arena);
    text = add_option(text, c->expert_parallel, d->experts, arena);
    return add_option(text, c->nodes, d->nodes, arena);
}

static bool deals_out_experts(const clv_plan *plan)
{
    for (int32_t i = 0; i < plan->n_found; i++)
        if (strcmp(plan->found[i].name, "expert parallel") == 0 && *plan->found[i].axes)
            return true;
    return false;
}

static clv_status has_experts(const clv_analysis *analysis, clv_arena *arena, bool *ret,
                              clv_error *err)
{
    const clv_graph *g = analysis->costs->graph;
    clv_experts experts;
    bool *constant;
    CLV_TRY(clv_constant_ops(g, arena, &constant, err));
    CLV_TRY(clv_experts_find(g, analysis->types, constant, arena, &experts, err));
    *ret = experts.n_routers > 0;
    for (int32_t i = 0; i < g->n_ops && !*ret; i++)
        *ret = clv_has_stacked_experts(&experts, g, (clv_op){ i });
    return CLV_OK;
}

/* Copies that stand behind one address: as many as a node holds. */
static int32_t copies_of_server(const clv_plan *plan, int32_t each, int32_t node)
{
    int32_t copies = clv_plan_copies(plan), held = node / each;
    if (copies <= held)
        return copies;
    return held > 0 && copies % held == 0 ? held : 1;
}

/* Of each stage, where its first operators are. */
static clv_status count_layers(const clv_request *req, const clv_plan *plan, clv_arena *arena,
                               deployment *d, clv_error *err)
{
    const clv_graph *g = req->model->main;
    int32_t *n = CLV_NEW_ARRAY(arena, int32_t, plan->n_stages), seen = 0;
    clv_layers layers;
    if (!n)
        return clv_fail_nomem(err, "layers of stages");
    CLV_TRY(clv_layers_find(g, arena, &layers, err));
    if (layers.n == 0 || plan->n_stages == 1)
        return CLV_OK;
    for (int32_t i = 0; i < g->n_ops; i++) {
        if (layers.of[i] != seen)
            continue;
        n[plan->devices[plan->device_of_op[g->ops[i].file_index]].stage]++;
        seen++;
    }
    d->layers = "";
    for (int32_t s = 0; s < plan->n_stages && d->layers; s++) {
        d->uneven_layers |= n[s] != n[0];
        d->layers = clv_arena_printf(arena, "%s%s%d", d->layers, s ? "," : "", (int)n[s]);
    }
    return d->layers ? CLV_OK : clv_fail_nomem(err, "layers of stages");
}

static clv_status deploy(const clv_request *req, const clv_analysis *analysis, const clv_plan *plan,
                         clv_arena *arena, deployment *ret, clv_error *err)
{
    const clv_backend *b = req->backend;
    int32_t node = clv_backend_node_devices(b, req->cluster, 0);
    int32_t tensor = plan->n_axes > 0 ? plan->mesh_devices : 1, each = tensor * plan->n_stages;
    bool experts;
    CLV_TRY(has_experts(analysis, arena, &experts, err));
    *ret = (deployment){ .tensor = tensor,
                         .stages = plan->n_stages,
                         .copies = 1,
                         .experts = deals_out_experts(plan) ? tensor : 1,
                         .nodes = (each + node - 1) / node };
    CLV_TRY(count_layers(req, plan, arena, ret, err));
    if (b->command.copies && !(experts && b->shared_experts))
        ret->copies = copies_of_server(plan, each, node);
    ret->servers = clv_plan_copies(plan) / ret->copies;
    return CLV_OK;
}

/* -- the price -- */

static clv_status show(const clv_plan *plan, clv_arena *arena, clv_plan_result *ret, clv_error *err)
{
    *ret = (clv_plan_result){ .objective_ns = clv_plan_objective_ns(plan) };
    if (plan->outcome != CLV_FITS)
        return CLV_OK;
    ret->devices = clv_plan_devices_used(plan);
    ret->form = plan->form           ? clv_arena_printf(arena, "%s", plan->form)
                : plan->n_stages > 1 ? clv_arena_printf(arena, "PP%d", (int)plan->n_stages)
                                     : "1 device";
    return ret->form ? CLV_OK : clv_fail_nomem(err, "the price of a profile");
}

clv_status clv_profile_add(const clv_request *req, const clv_analysis *analysis,
                           const clv_plan *without, clv_plan *plan, clv_arena *arena,
                           clv_error *err)
{
    clv_plan_profile *p = CLV_NEW(arena, clv_plan_profile);
    deployment d;
    if (!p)
        return clv_fail_nomem(err, "a profile");
    *p = (clv_plan_profile){ .name = req->backend->name };
    CLV_TRY(show(plan, arena, &p->with, err));
    if (without)
        CLV_TRY(show(without, arena, &p->without, err));
    plan->profile = p;
    if (!req->backend->command.run || plan->outcome != CLV_FITS)
        return CLV_OK;
    CLV_TRY(deploy(req, analysis, plan, arena, &d, err));
    p->servers = d.servers;
    p->layers = d.layers;
    p->command = command_line(&req->backend->command, &d, arena);
    return p->command ? CLV_OK : clv_fail_nomem(err, "a profile");
}
