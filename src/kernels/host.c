#include "kernels/host.h"

#include "graph/states.h"

#define HOST_MAX_NS (INT64_MAX / 4)

/* fixed + n * each */
static int64_t line_ns(int64_t fixed_ns, int64_t n, int64_t each_ns)
{
    double ns = (double)fixed_ns + (double)n * (double)each_ns;
    return ns < (double)HOST_MAX_NS ? (int64_t)ns : HOST_MAX_NS;
}

int64_t clv_host_ns(const clv_host_work *host, const clv_types *types)
{
    clv_dim n = clv_sequences(types);
    return line_ns(host->run_ns, n > 0 ? n : 1, host->sequence_ns);
}

int64_t clv_front_end_ns(const clv_host_work *host, const clv_prompt *prompt)
{
    int64_t tokens = clv_prompt_tokens(prompt);
    return tokens > 1 ? line_ns(host->request_ns, tokens, host->prompt_token_ns) : 0;
}
