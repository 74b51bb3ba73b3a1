#include "solver/partition/window_nets.h"

#include <stdlib.h>

#include "base/compare.h"

clv_status clv_window_nets(const clv_partition_problem *p, const int32_t *unit, int32_t n,
                           clv_arena *arena, clv_net_list *ret, clv_error *err)
{
    int32_t n_all = 0, n_once = 0;
    for (int32_t i = 0; i < n; i++)
        n_all += p->unit_first_net[unit[i] + 1] - p->unit_first_net[unit[i]] +
                 p->reads_first[unit[i] + 1] - p->reads_first[unit[i]];
    int32_t *nets = CLV_NEW_ARRAY(arena, int32_t, n_all);
    if (!nets)
        return clv_fail_nomem(err, "a window of units");
    n_all = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t u = unit[i];
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
            nets[n_all++] = net;
        for (int32_t r = p->reads_first[u]; r < p->reads_first[u + 1]; r++)
            nets[n_all++] = p->reads[r];
    }
    if (n_all > 0)
        qsort(nets, (size_t)n_all, sizeof *nets, clv_compare_int32);
    for (int32_t i = 0; i < n_all; i++)
        if (n_once == 0 || nets[n_once - 1] != nets[i])
            nets[n_once++] = nets[i];
    *ret = (clv_net_list){ nets, n_once };
    return CLV_OK;
}
