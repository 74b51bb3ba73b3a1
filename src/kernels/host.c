#include "kernels/host.h"

#define HOST_MAX_NS (INT64_MAX / 4)

static int64_t first_dimension(const clv_type *type)
{
    bool known = type->kind == CLV_TYPE_TENSOR && type->rank > 0 && type->dims[0] > 0;
    return known ? type->dims[0] : 1;
}

int64_t clv_sequences(const clv_types *types, const clv_tensor *state)
{
    const clv_graph *g = types->graph;
    for (int32_t i = 0; state && i < g->n_inputs; i++)
        if (state[g->inputs[i].i].i >= 0)
            return first_dimension(&types->of[g->inputs[i].i]);
    return g->n_inputs > 0 ? first_dimension(&types->of[g->inputs[0].i]) : 1;
}

int64_t clv_host_ns(const clv_host_work *host, const clv_types *types, const clv_tensor *state)
{
    double n = (double)clv_sequences(types, state);
    double ns = (double)host->run_ns + n * (double)host->sequence_ns;
    return ns < (double)HOST_MAX_NS ? (int64_t)ns : HOST_MAX_NS;
}
