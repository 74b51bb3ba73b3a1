/* shapes_train.c - optimisers of ai.onnx.preview.training.
 *
 * Inputs are the rate, the count, and then runs of equal length: all tensors to be trained, all
 * gradients, and one run for each state. Outputs are the new tensors and the new states, in the
 * same runs without the gradients.
 */
#include "graph/rules.h"
#include "graph/shape_tools.h"

#define BEFORE_RUNS 2

/* n_states: runs after tensors and gradients. */
static clv_status optimiser(clv_rule *r, int32_t n_states)
{
    int32_t n_runs = 2 + n_states, n_given = clv_rule_n_in(r) - BEFORE_RUNS, n;

    if (n_given < n_runs || n_given % n_runs != 0)
        return clv_rule_fail(r, "%d inputs, expected 2 and a multiple of %d", clv_rule_n_in(r),
                             n_runs);
    n = n_given / n_runs;
    for (int32_t k = 0; k < clv_rule_n_out(r) && k < n * (1 + n_states); k++) {
        int32_t run = k / n;
        int32_t in_run = run == 0 ? 0 : run + 1; /* run 1 holds the gradients */
        CLV_TRY(clv_rule_set_same(r, k, BEFORE_RUNS + in_run * n + k % n));
    }
    return CLV_OK;
}

clv_status clv_shape_adagrad(clv_rule *r) { return optimiser(r, 1); }
clv_status clv_shape_momentum(clv_rule *r) { return optimiser(r, 1); }
clv_status clv_shape_adam(clv_rule *r) { return optimiser(r, 2); }

/* One derivative for each of the tensors in xs, which are the first inputs. */
clv_status clv_shape_gradient(clv_rule *r)
{
    const clv_attr *xs = clv_rule_attr(r, "xs");
    int32_t n = xs && xs->kind == CLV_ATTR_STRINGS ? xs->n : 0;

    for (int32_t k = 0; k < clv_rule_n_out(r) && k < n; k++)
        CLV_TRY(clv_rule_set_same(r, k, k));
    return CLV_OK;
}
