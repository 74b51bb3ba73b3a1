#include "cost/bytes.h"

#include "cost/shapes.h"

static int64_t known(clv_sizing *s, int64_t bytes)
{
    if (bytes < 0)
        s->open = true;
    return bytes < 0 ? 0 : bytes;
}

static int64_t read_bytes(clv_sizing *s, int32_t k)
{
    if (clv_op_input(s->rule.graph, s->rule.op, k).i < 0)
        return 0;
    return known(s, s->in_bytes ? s->in_bytes[k] : clv_bytes_read(s->rule.types, s->rule.op, k));
}

static int64_t written_bytes(clv_sizing *s, int32_t k)
{
    clv_tensor t = clv_op_output(s->rule.graph, s->rule.op, k);
    if (t.i < 0)
        return 0;
    return known(s, s->out_bytes ? s->out_bytes[k] : s->rule.types->bytes[t.i]);
}

/* A tensor that is listed twice is read twice. */
static int64_t inputs_from(clv_sizing *s, int32_t first)
{
    int64_t sum = 0;
    for (int32_t k = first; k < clv_rule_n_in(&s->rule); k++)
        sum = clv_size_add(s, sum, read_bytes(s, k));
    return sum;
}

static int64_t outputs(clv_sizing *s)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < s->rule.op->n_out; k++)
        sum = clv_size_add(s, sum, written_bytes(s, k));
    return sum;
}

/* Of a mixture of experts: the weights of those that any token goes to. */
static int64_t experts_inputs(clv_sizing *s)
{
    clv_sizing apart = *s; /* that its shape is open is no lack of the traffic */
    const clv_kernel_shape shape = clv_experts_sizes(&apart);
    int64_t weights = inputs_from(s, 2), all = inputs_from(s, 0);
    int64_t hit = clv_size_scale(s, weights, clv_experts_hit(&shape));
    return all - weights + (hit < weights ? hit : weights);
}

clv_traffic clv_bytes(clv_sizing *s)
{
    clv_bytes_kind kind = s->def ? s->def->bytes : CLV_BYTES_ALL;
    int64_t written;
    switch (kind) {
    case CLV_BYTES_VIEW:
    case CLV_BYTES_CONST:
    case CLV_BYTES_BODY:
        return (clv_traffic){ 0, 0 };
    case CLV_BYTES_GATHER: /* of input 0 as much as it writes */
        written = outputs(s);
        return (clv_traffic){ clv_size_add(s, written, inputs_from(s, 1)), written };
    case CLV_BYTES_SHAPE:
        return (clv_traffic){ inputs_from(s, 1), outputs(s) };
    case CLV_BYTES_ALL:
    case CLV_BYTES_SCATTER: /* reads input 0 and the updates, writes the whole result */
        if (s->def && s->def->flops == CLV_FLOPS_MOE)
            return (clv_traffic){ experts_inputs(s), outputs(s) };
        return (clv_traffic){ inputs_from(s, 0), outputs(s) };
    }
    return (clv_traffic){ 0, 0 };
}
