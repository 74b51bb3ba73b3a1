/* circles.c - nodes that wait for nothing that is left are taken away, in both directions; what
 * stays is on a circle, or between two. */
#include "kernels/circles.h"

/* Edges between kernels, towards those that read or those that are read; what is by itself has the
 * number of kernels + its own. */
typedef struct {
    const clv_forming *f;
    int32_t n_nodes;
    int32_t *waits, *queue; /* by node */
    bool *gone;
} trimming;

static int32_t node_of(const trimming *t, int32_t op)
{
    int32_t of = t->f->of[op];
    return of >= 0 ? of : t->f->n_found + op;
}

/* Who has to run before an operator for its input k; -1: nobody, or what is known before the run.
 */
static int32_t waits_for(const trimming *t, int32_t op, int32_t k)
{
    const clv_forming *f = t->f;
    clv_tensor in = clv_op_input(f->g, &f->g->ops[op], k);
    bool waits = in.i >= 0 && !f->types->value[in.i] && !clv_is_idle(f, (clv_op){ op });
    return waits ? clv_tensor_at(f->g, in)->producer.i : -1;
}

static void count_edges(trimming *t, bool forward)
{
    const clv_graph *g = t->f->g;
    for (int32_t i = 0; i < g->n_ops; i++)
        for (int32_t k = 0; k < g->ops[i].n_in; k++) {
            int32_t writer = waits_for(t, i, k);
            if (writer < 0)
                continue;
            int32_t from = node_of(t, writer), to = node_of(t, i);
            if (from != to && !t->gone[from] && !t->gone[to])
                t->waits[forward ? to : from]++;
        }
}

/* One operator whose kernel is gone: who waited for it waits no more. */
static int32_t release(trimming *t, bool forward, clv_op op, int32_t n)
{
    const clv_graph *g = t->f->g;
    const clv_op_info *info = clv_op_at(g, op);
    int32_t from = node_of(t, op.i);
    for (int32_t k = 0; !forward && k < info->n_in; k++) {
        int32_t writer = waits_for(t, op.i, k);
        if (writer >= 0 && node_of(t, writer) != from && --t->waits[node_of(t, writer)] == 0)
            t->queue[n++] = node_of(t, writer);
    }
    for (int32_t o = 0; forward && o < info->n_out; o++) {
        clv_tensor out = clv_op_output(g, info, o);
        const clv_tensor_info *at = out.i < 0 ? NULL : clv_tensor_at(g, out);
        for (int32_t r = 0; at && r < at->n_readers; r++) {
            clv_op reader = g->readers_of[at->first_reader + r];
            for (int32_t k = 0; k < clv_op_at(g, reader)->n_in; k++)
                if (clv_op_input(g, clv_op_at(g, reader), k).i == out.i &&
                    waits_for(t, reader.i, k) >= 0 && node_of(t, reader.i) != from &&
                    --t->waits[node_of(t, reader.i)] == 0)
                    t->queue[n++] = node_of(t, reader.i);
        }
    }
    return n;
}

/* Takes away what waits for nothing that is left, again and again: in one direction. How many it
 * took. */
static int32_t trim(trimming *t, bool forward)
{
    const clv_forming *f = t->f;
    int32_t n = 0;
    memset(t->waits, 0, (size_t)t->n_nodes * sizeof *t->waits);
    count_edges(t, forward);
    for (int32_t i = 0; i < t->n_nodes; i++)
        if (t->waits[i] == 0 && !t->gone[i])
            t->queue[n++] = i;
    for (int32_t at = 0; at < n; at++) {
        int32_t node = t->queue[at];
        t->gone[node] = true;
        if (node >= f->n_found) {
            n = release(t, forward, (clv_op){ node - f->n_found }, n);
            continue;
        }
        for (int32_t i = 0; i < f->found[node].n; i++)
            n = release(t, forward, f->members[f->found[node].first + i], n);
    }
    return n;
}

clv_status clv_break_circles(clv_forming *f, clv_error *err)
{
    trimming t = { .f = f, .n_nodes = f->n_found + f->g->n_ops };
    t.waits = CLV_NEW_ARRAY(f->scratch, int32_t, t.n_nodes);
    t.queue = CLV_NEW_ARRAY(f->scratch, int32_t, t.n_nodes);
    t.gone = CLV_NEW_ARRAY(f->scratch, bool, t.n_nodes);
    if (!t.waits || !t.queue || !t.gone)
        return clv_fail_nomem(err, "kernels");
    int32_t left = t.n_nodes;
    for (int32_t i = 0; i < f->g->n_ops; i++) {
        t.gone[f->n_found + i] = f->of[i] >= 0; /* a kernel stands for it */
        left -= t.gone[f->n_found + i];
    }
    if (trim(&t, true) == left)
        return CLV_OK;
    trim(&t, false);
    for (int32_t k = 0; k < f->n_found; k++)
        for (int32_t i = 0; !t.gone[k] && i < f->found[k].n; i++)
            f->of[f->members[f->found[k].first + i].i] = -1;
    return CLV_OK;
}
