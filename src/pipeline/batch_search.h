/* batch_search.h - the batch with the most samples a second: plans for one size after another.
 *
 * Sizes are doubled from the least that the model takes, as samples a second grow with the batch
 * until a device is busy with all of its units, and memory and latency grow with it too. It ends
 * where no plan fits or is within the latency, or where two doublings in a row bring less than
 * clv_request.worth. Where memory or a latency is the limit, what lies between the best size and
 * the next one is halved twice (bisection). Of all sizes whose samples a second are within
 * clv_request.worth of the most those stay whose latency is within that of the least, and of these
 * the smallest is chosen.
 *
 * The plan is that which the request gives with the chosen size bound; nothing is proven of other
 * sizes. The same at any number of jobs.
 */
#ifndef CLV_PIPELINE_BATCH_SEARCH_H
#define CLV_PIPELINE_BATCH_SEARCH_H

#include "plan/plan.h"
#include "request/batch_symbol.h"

/* Where no size has a plan that fits, the plan of the least one. A size that a model refuses behind
 * one that it takes ends the search. At most 20 plans, of which those stay in memory that may be
 * chosen; with a deadline each takes a quarter of what is left. Errors as of clv_plan_model(). */
clv_status clv_batch_search(const clv_request *req, const clv_batch_symbol *batch, clv_arena *arena,
                            clv_plan **ret, clv_error *err);

#endif
