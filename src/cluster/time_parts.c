#include "cluster/time_parts.h"

const char *clv_time_cause_name(clv_time_cause cause)
{
    static const char *const names[CLV_N_TIME_CAUSES] = { [CLV_TIME_COMPUTE] = "compute",
                                                          [CLV_TIME_MEMORY] = "memory",
                                                          [CLV_TIME_LAUNCH] = "launch",
                                                          [CLV_TIME_COMMUNICATION] =
                                                              "communication" };
    return names[cause];
}

const char *clv_basis_name(clv_basis basis)
{
    static const char *const names[CLV_N_BASES] = {
        [CLV_ASSUMED] = "assumed", [CLV_FITTED] = "fitted", [CLV_MEASURED] = "measured"
    };
    return names[basis];
}
