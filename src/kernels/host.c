#include "kernels/host.h"

#include "graph/states.h"

#define HOST_MAX_NS (INT64_MAX / 4)

int64_t clv_host_ns(const clv_host_work *host, const clv_types *types)
{
    clv_dim n = clv_sequences(types);
    double ns = (double)host->run_ns + (double)(n > 0 ? n : 1) * (double)host->sequence_ns;
    return ns < (double)HOST_MAX_NS ? (int64_t)ns : HOST_MAX_NS;
}
