#include "joint/strategy_enumeration.h"

#include <stdlib.h>
#include <string.h>

#include "problem/memory_moments.h"
#include "request/request.h"

#define TRIES_MAX  (1 << 22) /* some tenths of a second */
#define STAGES_MAX 8         /* what is known of each try grows with their square */
#define INPUTS_MAX 32        /* of an operator: sets of them are words */
#define EVERYWHERE (-1)      /* the stage of an input of the model */

/* An edge that ends at the node at hand. */
typedef struct {
    int32_t from;         /* node */
    const int64_t *entry; /* ns, [choice of from * choices of the node + its choice] */
    /* From an operator to the only one that reads what it wrote: the writer brings it to the layout
     * that the reader needs, and then it takes so long to another stage at least, by choice of the
     * reader. NULL: what is at the node's side. */
    const clv_int128 *after_ns;
} arrival;

/* Transfers from one stage to another: together; when the first can begin, at least; how long the
 * model runs after any of them, at least. */
typedef struct {
    clv_int128 ns, head_ns, tail_ns;
} link;

typedef struct {
    clv_int128 floor;
    int32_t *solution;
} listed;

typedef struct {
    const clv_enumeration *e;
    const clv_intra_op_problem *p;
    clv_arena *arena, *scratch;
    int32_t n_stages;
    int32_t *order;         /* nodes: an operator, then the tensors that it writes */
    int32_t *first_arrival; /* by node, n_nodes + 1 */
    arrival *arrivals;
    bool *is_tensor;     /* by node */
    clv_int128 *send_ns; /* by choice of a tensor: no transfer of it takes less */
    clv_int128 *tail_ns; /* by choice: no way through the model from its start takes less */
    clv_int128 *rest_ns; /* by place in order: all from there on takes so much work at least */
    clv_memory_moments memory;
    clv_stage_memory of_stages;
    clv_stage_held *held; /* by place in order and stage: so far */
    clv_int128 *ready_ns; /* by place in order and stage: all before is done there */
    link *links;          /* by place in order and pair of stages */
    uint32_t *after;      /* by place in order and stage: stages that wait for it, as bits */
    /* of nodes that have a choice */
    int32_t *choice_of, *stage_of;
    uint32_t *sent_to; /* stages, as bits */
    clv_int128 *done_ns;
    listed *list;                 /* room for twice the most */
    int32_t n_list, tries, place; /* place: in order, of the node at hand */
    clv_int128 below, dropped_ns; /* floors of use; the least of those that are not in the list */
} search;

static clv_int128 larger(clv_int128 a, clv_int128 b) { return a > b ? a : b; }
static clv_int128 lesser(clv_int128 a, clv_int128 b) { return a < b ? a : b; }

static int32_t n_choices(const search *s, int32_t node)
{
    return clv_intra_op_n_choices(s->p, node);
}

/* -- the graph -- */

static void list_arrivals(search *s, int32_t *n)
{
    const clv_intra_op_problem *p = s->p;
    for (int32_t e = 0; e < p->n_edges; e++)
        s->first_arrival[p->end[p->first_end[e] + 1] + 1]++;
    for (int32_t v = 0; v < p->n_nodes; v++)
        s->first_arrival[v + 1] += s->first_arrival[v];
    for (int32_t e = 0; e < p->n_edges; e++) {
        int32_t from = p->end[p->first_end[e]], to = p->end[p->first_end[e] + 1];
        s->arrivals[s->first_arrival[to] + n[to]++] =
            (arrival){ from, p->entry + p->first_entry[p->matrix_of[e]], NULL };
    }
}

/* The least transfer of a tensor in this layout from any stage to another. */
static clv_int128 transfer_ns(const search *s, clv_tensor t, const clv_layout *layout)
{
    const clv_shard_problem *of = s->e->of.problem;
    int64_t bytes = clv_part_bytes(of->mesh, layout, &of->types->of[t.i], of->types->bytes[t.i]);
    clv_int128 least = CLV_INT128_MAX;
    for (int32_t from = 0; from < s->n_stages; from++)
        for (int32_t to = 0; to < s->n_stages; to++)
            if (from != to)
                least = lesser(least, clv_transfer_ns(s->e->of.stages, from, to, bytes));
    return bytes > 0 ? least : 0;
}

/* Of what an operator alone reads of what another one wrote, in the layouts that it needs. */
static clv_status add_transfers(search *s, int32_t op, arrival *a, clv_error *err)
{
    const clv_shard_problem *of = s->e->of.problem;
    const clv_graph *g = of->types->graph;
    int32_t node = of->node_of_op[op], n = n_choices(s, node);
    clv_int128 *least = CLV_NEW_ARRAY(s->scratch, clv_int128, n);
    if (!least)
        return clv_fail_nomem(err, "strategies");
    for (int32_t c = 0; c < n; c++) {
        least[c] = CLV_INT128_MAX;
        for (int32_t k = 0; k < g->ops[op].n_in; k++) {
            clv_tensor t = clv_op_input(g, &g->ops[op], k);
            int32_t maker = t.i < 0 ? -1 : g->tensors[t.i].producer.i;
            if (maker < 0 || of->node_of_op[maker] != a->from || of->node_of_tensor[t.i] >= 0)
                continue;
            clv_layout need = clv_choice_in(&of->factors[op], of->mesh, &of->op_choice[node][c], k);
            least[c] = lesser(least[c], transfer_ns(s, t, &need));
        }
        if (least[c] == CLV_INT128_MAX)
            least[c] = 0;
    }
    a->after_ns = least;
    return CLV_OK;
}

static void add_node(search *s, int32_t node, int32_t *n) { s->order[(*n)++] = node; }

static void add_tensor(search *s, clv_tensor t, int32_t *n)
{
    int32_t node = t.i < 0 ? -1 : s->e->of.problem->node_of_tensor[t.i];
    if (node < 0)
        return;
    s->is_tensor[node] = true;
    add_node(s, node, n);
    for (int32_t c = 0; c < n_choices(s, node); c++)
        s->send_ns[s->p->first_choice[node] + c] =
            transfer_ns(s, t, &s->e->of.problem->layout[node][c]);
}

static clv_status add_op(search *s, int32_t op, int32_t *n, clv_error *err)
{
    const clv_graph *g = s->e->of.problem->types->graph;
    int32_t node = s->e->of.problem->node_of_op[op];
    if (node < 0)
        return CLV_OK;
    add_node(s, node, n);
    for (int32_t a = s->first_arrival[node]; a < s->first_arrival[node + 1]; a++)
        if (!s->is_tensor[s->arrivals[a].from])
            CLV_TRY(add_transfers(s, op, &s->arrivals[a], err));
    for (int32_t k = 0; k < g->ops[op].n_out; k++)
        add_tensor(s, clv_op_output(g, &g->ops[op], k), n);
    return CLV_OK;
}

static clv_status put_in_order(search *s, clv_error *err)
{
    const clv_graph *g = s->e->of.problem->types->graph;
    int32_t n = 0;
    for (int32_t t = 0; t < g->n_tensors; t++) {
        int32_t maker = g->tensors[t].producer.i;
        if (maker < 0 || s->e->of.problem->node_of_op[maker] < 0)
            add_tensor(s, (clv_tensor){ t }, &n);
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        CLV_TRY(add_op(s, i, &n, err));
    return CLV_OK;
}

/* -- what is still to come -- */

static int64_t least_entry(const search *s, const arrival *a, int32_t to, int32_t choice)
{
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < n_choices(s, a->from); k++)
        if (a->entry[k * n_choices(s, to) + choice] < least)
            least = a->entry[k * n_choices(s, to) + choice];
    return least;
}

/* A node's cheapest choice, with the cheapest edges into it. For latency without what the writer
 * does behind itself: it may pass while its stage waits for another, which is counted already. */
static clv_int128 least_work(const search *s, int32_t v)
{
    clv_int128 least = CLV_INT128_MAX;
    for (int32_t c = 0; c < n_choices(s, v); c++) {
        clv_int128 ns = s->p->cost[s->p->first_choice[v] + c];
        for (int32_t a = s->first_arrival[v]; a < s->first_arrival[v + 1]; a++)
            if (!s->e->latency || !s->arrivals[a].after_ns)
                ns += least_entry(s, &s->arrivals[a], v, c);
        least = lesser(least, ns);
    }
    return least;
}

/* Each way that comes by an edge into v, from whatever choice, goes on at least so long. */
static void extend_tails(search *s, const arrival *a, int32_t v)
{
    clv_int128 *tail = s->tail_ns + s->p->first_choice[a->from];
    const clv_int128 *own = s->tail_ns + s->p->first_choice[v];
    int32_t n = n_choices(s, v);
    for (int32_t k = 0; k < n_choices(s, a->from); k++) {
        clv_int128 least = CLV_INT128_MAX;
        for (int32_t c = 0; c < n; c++)
            least = lesser(least, a->entry[k * n + c] + own[c]);
        tail[k] = larger(tail[k], least + s->p->cost[s->p->first_choice[a->from] + k]);
    }
}

static void find_tails(search *s)
{
    const clv_intra_op_problem *p = s->p;
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++)
        s->tail_ns[c] = p->cost[c];
    for (int32_t i = p->n_nodes - 1; i >= 0; i--) {
        int32_t v = s->order[i];
        s->rest_ns[i] = s->rest_ns[i + 1] + least_work(s, v);
        for (int32_t a = s->first_arrival[v]; a < s->first_arrival[v + 1]; a++)
            extend_tails(s, &s->arrivals[a], v);
    }
}

/* -- the list -- */

static int compare_floors(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    return (x->floor > y->floor) - (x->floor < y->floor);
}

/* A solution is found once for each way to deal out its operators: the least floor stays. O(list);
 * one stage has one way. */
static bool is_listed(search *s, clv_int128 floor)
{
    size_t bytes = (size_t)s->p->n_nodes * sizeof *s->choice_of;
    for (int32_t i = 0; i < s->n_list; i++)
        if (memcmp(s->list[i].solution, s->choice_of, bytes) == 0) {
            s->list[i].floor = lesser(s->list[i].floor, floor);
            return true;
        }
    return false;
}

/* The most promising stay. */
static void sort_list(search *s)
{
    int32_t most = s->e->most;
    qsort(s->list, (size_t)s->n_list, sizeof *s->list, compare_floors);
    if (s->n_list <= most)
        return;
    s->below = s->list[most].floor;
    s->dropped_ns = lesser(s->dropped_ns, s->below);
    s->n_list = most;
}

static clv_status put(search *s, clv_int128 floor, clv_error *err)
{
    size_t n = (size_t)s->p->n_nodes;
    if (s->n_stages > 1 && is_listed(s, floor))
        return CLV_OK;
    listed *l = &s->list[s->n_list++];
    *l = (listed){ floor, CLV_NEW_ARRAY(s->arena, int32_t, n) };
    if (!l->solution)
        return clv_fail_nomem(err, "strategies");
    memcpy(l->solution, s->choice_of, n * sizeof *l->solution);
    if (s->n_list == 2 * s->e->most)
        sort_list(s);
    return CLV_OK;
}

/* -- the search -- */

/* Does a stage wait for another only in one direction? */
static bool may_wait(uint32_t *after, int32_t n_stages, int32_t from, int32_t to)
{
    uint32_t more = after[to] | UINT32_C(1) << to;
    if (more >> from & 1)
        return false;
    for (int32_t k = 0; k < n_stages; k++)
        if (k == from || after[k] >> from & 1)
            after[k] |= more;
    return true;
}

/* What a node left goes to a stage where it has not been. */
static void send(search *s, int32_t from, int32_t stage, const link *sent)
{
    int32_t there = s->stage_of[from], n = s->n_stages;
    const clv_route *route = clv_route_between(s->e->of.stages, there, stage);
    if (s->sent_to[from] >> stage & 1 || route->n_ports == 0)
        return;
    s->sent_to[from] |= UINT32_C(1) << stage;
    link *l = &s->links[(s->place + 1) * n * n + there * n + stage];
    l->head_ns = l->ns > 0 ? lesser(l->head_ns, sent->head_ns) : sent->head_ns;
    l->tail_ns = l->ns > 0 ? lesser(l->tail_ns, sent->tail_ns) : sent->tail_ns;
    l->ns += sent->ns;
}

/* An input of a node on a stage: when it is there, but for what the node's stage does for it, which
 * is added to *work_ns. False: a stage would wait for itself. */
static bool receive(search *s, const arrival *a, int32_t v, int32_t stage, clv_int128 *begin_ns,
                    clv_int128 *work_ns)
{
    int32_t n = s->n_stages, at = (s->place + 1) * n, c = s->choice_of[v];
    int32_t made = s->choice_of[a->from], there = s->stage_of[a->from];
    int64_t ns = a->entry[made * n_choices(s, v) + c], later_ns = a->after_ns ? 0 : ns;
    clv_int128 head_ns = s->done_ns[a->from] + (ns - later_ns), sent_ns = 0;
    clv_int128 *ready_ns = a->after_ns ? &s->ready_ns[at + there] : NULL;
    if (ready_ns)
        *ready_ns = s->e->latency ? larger(*ready_ns, head_ns) : *ready_ns + ns;
    if (there != stage && there != EVERYWHERE) {
        if (!may_wait(s->after + at, n, there, stage))
            return false;
        sent_ns = a->after_ns ? a->after_ns[c] : s->send_ns[s->p->first_choice[a->from] + made];
        send(s, a->from, stage,
             &(link){ sent_ns, head_ns, later_ns + s->tail_ns[s->p->first_choice[v] + c] });
    }
    *begin_ns = larger(*begin_ns, head_ns + sent_ns + later_ns);
    *work_ns += later_ns;
    return true;
}

/* The node behind its inputs on a stage: when it is done, and when all is done there that goes with
 * it. What brings its inputs to their layouts goes with it; what brings a tensor to where all
 * readers, or its only one, find it goes with who wrote it. False: a stage would wait for itself.
 */
static bool run_node(search *s, int32_t v, int32_t stage)
{
    int32_t choice = s->p->first_choice[v] + s->choice_of[v];
    clv_int128 begin_ns = 0, work_ns = 0, none = 0;
    clv_int128 *ready_ns =
        stage == EVERYWHERE ? &none : &s->ready_ns[(s->place + 1) * s->n_stages + stage];
    for (int32_t a = s->first_arrival[v]; a < s->first_arrival[v + 1]; a++)
        if (!receive(s, &s->arrivals[a], v, stage, &begin_ns, &work_ns))
            return false;
    *ready_ns += work_ns;
    if (!s->is_tensor[v] && s->e->latency)
        begin_ns = *ready_ns = larger(begin_ns, *ready_ns);
    *ready_ns += s->p->cost[choice];
    s->done_ns[v] = begin_ns + s->p->cost[choice];
    return true;
}

/* No plan that begins like this takes less; path: the longest way so far, to its end. */
static clv_int128 floor_of(const search *s, int32_t place, clv_int128 path_ns)
{
    clv_int128 sum_ns = s->rest_ns[place], most_ns = path_ns;
    for (int32_t k = 0; k < s->n_stages; k++) {
        clv_int128 ready_ns = s->ready_ns[place * s->n_stages + k];
        sum_ns += ready_ns;
        most_ns = larger(most_ns, ready_ns);
    }
    /* transfers on a link run one after another: a machine with heads and tails (Carlier 1982) */
    for (int32_t k = 0; k < s->n_stages * s->n_stages; k++) {
        const link *l = &s->links[place * s->n_stages * s->n_stages + k];
        most_ns = larger(most_ns, s->e->latency ? l->head_ns + l->ns + l->tail_ns : l->ns);
    }
    return larger(most_ns, (sum_ns + s->n_stages - 1) / s->n_stages);
}

static clv_status branch(search *s, int32_t place, int32_t n_used, clv_int128 path_ns,
                         clv_error *err);

/* What is known before the node at a place, to what is known behind it. */
static void copy_state(search *s, int32_t place)
{
    size_t n = (size_t)s->n_stages, at = (size_t)place * n;
    memcpy(s->ready_ns + at + n, s->ready_ns + at, n * sizeof *s->ready_ns);
    memcpy(s->after + at + n, s->after + at, n * sizeof *s->after);
    memcpy(s->held + at + n, s->held + at, n * sizeof *s->held);
    memcpy(s->links + (at + n) * n, s->links + at * n, n * n * sizeof *s->links);
}

/* Inputs of a node that have been sent to a stage, as bits. */
static uint32_t sent_inputs(const search *s, int32_t v, int32_t stage)
{
    uint32_t sent = 0;
    for (int32_t a = s->first_arrival[v]; stage >= 0 && a < s->first_arrival[v + 1]; a++)
        sent |= (s->sent_to[s->arrivals[a].from] >> stage & 1) << (a - s->first_arrival[v]);
    return sent;
}

/* Have the stages room for the node? A tensor is held by who writes or reads it. */
static bool have_room(search *s, int32_t v)
{
    return clv_stage_memory_run(&s->of_stages, v, s->choice_of, s->stage_of,
                                &s->held[(s->place + 1) * s->n_stages]);
}

/* As it was before the node was tried there. */
static void take_back(search *s, int32_t v, int32_t stage, uint32_t sent)
{
    for (int32_t a = s->first_arrival[v]; stage >= 0 && a < s->first_arrival[v + 1]; a++)
        if (!(sent >> (a - s->first_arrival[v]) & 1))
            s->sent_to[s->arrivals[a].from] &= ~(UINT32_C(1) << stage);
}

/* Every choice of the node at a place, on that stage. */
static clv_status branch_on(search *s, int32_t place, int32_t stage, int32_t n_used,
                            clv_int128 path_ns, clv_error *err)
{
    int32_t v = s->order[place];
    uint32_t sent = sent_inputs(s, v, stage);
    s->stage_of[v] = stage;
    s->sent_to[v] = 0;
    for (int32_t c = 0; c < n_choices(s, v) && s->tries <= TRIES_MAX; c++) {
        int32_t choice = s->p->first_choice[v] + c;
        copy_state(s, place);
        s->choice_of[v] = c;
        s->tries++;
        s->place = place;
        if (clv_memory_moments_take(&s->memory, v, c) && have_room(s, v) && run_node(s, v, stage)) {
            clv_int128 way_ns = s->done_ns[v] - s->p->cost[choice] + s->tail_ns[choice];
            clv_int128 longest_ns = s->e->latency ? larger(path_ns, way_ns) : 0;
            CLV_TRY(branch(s, place + 1, n_used, longest_ns, err));
        }
        clv_memory_moments_give_back(&s->memory, v, c);
        take_back(s, v, stage, sent);
    }
    return CLV_OK;
}

/* All ways to go on: recursion as deep as there are nodes. Stages are alike as far as floors go, so
 * the first that is not used stands for all of them. */
static clv_status branch(search *s, int32_t place, int32_t n_used, clv_int128 path_ns,
                         clv_error *err)
{
    clv_int128 floor = floor_of(s, place, path_ns);
    if (floor >= s->below) {
        s->dropped_ns = lesser(s->dropped_ns, floor);
        return CLV_OK;
    }
    if (place == s->p->n_nodes)
        return floor < s->e->from ? CLV_OK : put(s, floor, err);
    int32_t v = s->order[place];
    if (s->is_tensor[v]) { /* where its writer is */
        int32_t a = s->first_arrival[v];
        bool is_input = a == s->first_arrival[v + 1];
        return branch_on(s, place, is_input ? EVERYWHERE : s->stage_of[s->arrivals[a].from], n_used,
                         path_ns, err);
    }
    for (int32_t k = 0; k <= n_used && k < s->n_stages; k++)
        CLV_TRY(branch_on(s, place, k, k == n_used ? n_used + 1 : n_used, path_ns, err));
    return CLV_OK;
}

/* -- all -- */

static bool allocate(search *s)
{
    size_t n = (size_t)s->p->n_nodes, n_all = (size_t)s->p->first_choice[n];
    s->order = CLV_NEW_ARRAY(s->scratch, int32_t, n);
    s->first_arrival = CLV_NEW_ARRAY(s->scratch, int32_t, n + 1);
    s->arrivals = CLV_NEW_ARRAY(s->scratch, arrival, s->p->n_edges);
    s->is_tensor = CLV_NEW_ARRAY(s->scratch, bool, n);
    s->send_ns = CLV_NEW_ARRAY(s->scratch, clv_int128, n_all);
    s->tail_ns = CLV_NEW_ARRAY(s->scratch, clv_int128, n_all);
    s->rest_ns = CLV_NEW_ARRAY(s->scratch, clv_int128, n + 1);
    s->ready_ns = CLV_NEW_ARRAY(s->scratch, clv_int128, (n + 1) * (size_t)s->n_stages);
    s->links = CLV_NEW_ARRAY(s->scratch, link, (n + 1) * (size_t)s->n_stages * (size_t)s->n_stages);
    s->after = CLV_NEW_ARRAY(s->scratch, uint32_t, (n + 1) * (size_t)s->n_stages);
    s->held = CLV_NEW_ARRAY(s->scratch, clv_stage_held, (n + 1) * (size_t)s->n_stages);
    s->sent_to = CLV_NEW_ARRAY(s->scratch, uint32_t, n);
    s->choice_of = CLV_NEW_ARRAY(s->scratch, int32_t, n);
    s->stage_of = CLV_NEW_ARRAY(s->scratch, int32_t, n);
    s->done_ns = CLV_NEW_ARRAY(s->scratch, clv_int128, n);
    s->list = CLV_NEW_ARRAY(s->scratch, listed, 2 * s->e->most);
    return s->order && s->first_arrival && s->arrivals && s->is_tensor && s->send_ns &&
           s->tail_ns && s->rest_ns && s->ready_ns && s->links && s->after && s->held &&
           s->sent_to && s->choice_of && s->stage_of && s->done_ns && s->list;
}

static clv_status fill(search *s, clv_strategy_list *ret, clv_error *err)
{
    sort_list(s);
    ret->n = s->n_list;
    ret->floor = CLV_NEW_ARRAY(s->arena, clv_int128, s->n_list);
    ret->solution = clv_arena_take_array(s->arena, (size_t)s->n_list, sizeof *ret->solution);
    if (!ret->floor || !ret->solution)
        return clv_fail_nomem(err, "strategies");
    for (int32_t i = 0; i < s->n_list; i++) {
        ret->floor[i] = s->list[i].floor;
        ret->solution[i] = s->list[i].solution;
    }
    ret->rest = lesser(s->dropped_ns, s->e->below);
    return CLV_OK;
}

static clv_status enumerate(search *s, clv_strategy_list *ret, clv_error *err)
{
    if (!allocate(s))
        return clv_fail_nomem(err, "strategies");
    CLV_TRY(clv_memory_moments_make(s->p, s->scratch, &s->memory, err));
    CLV_TRY(clv_stage_memory_make(&s->e->of, s->scratch, &s->of_stages, err));
    list_arrivals(s, s->choice_of);
    CLV_TRY(put_in_order(s, err));
    find_tails(s);
    CLV_TRY(branch(s, 0, 0, 0, err));
    ret->tries = s->tries;
    return s->tries > TRIES_MAX ? CLV_OK : fill(s, ret, err);
}

bool clv_strategies_may_be_few(const clv_types *types, int32_t n_stages)
{
    const clv_graph *g = types->graph;
    int32_t n = 0, n_in = 0;
    for (int32_t i = 0; i < g->n_ops && n <= CLV_SINGLE_OPS_MAX; i++) {
        n += clv_shard_takes_part(types, (clv_op){ i });
        n_in = g->ops[i].n_in > n_in ? g->ops[i].n_in : n_in;
    }
    return n <= CLV_SINGLE_OPS_MAX && n_in <= INPUTS_MAX && n_stages <= STAGES_MAX;
}

clv_status clv_strategies_enumerate(const clv_enumeration *e, clv_arena *arena,
                                    clv_strategy_list *ret, clv_error *err)
{
    search s = { .e = e,
                 .p = e->of.problem->problem,
                 .arena = arena,
                 .n_stages = e->of.stages->n_devices,
                 .below = e->below,
                 .dropped_ns = CLV_INT128_MAX };
    *ret = (clv_strategy_list){ .n = 0 };
    s.scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!s.scratch)
        return clv_fail_nomem(err, "strategies");
    clv_status status = enumerate(&s, ret, err);
    clv_arena_free(s.scratch);
    return status;
}
