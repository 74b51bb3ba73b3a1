/* stage_search.h - one search for stages of whole operators, from opening to its result.
 *
 * Opened on so many devices with so much memory, it has the partition problem, the judge and the
 * rules; it may be opened again on others, by rules that are left out or with finer units. One
 * thread at a time.
 */
#ifndef CLV_STAGES_STAGE_SEARCH_H
#define CLV_STAGES_STAGE_SEARCH_H

#include "stages/stage_state.h"

/* A search of the same request and units as s, to try something else beside it; not yet open. */
clv_stage_search clv_stage_search_beside(const clv_stage_search *s);

/* Cluster -> rules, problem -> judge, for so many devices (0: all) with so much memory (0: as
 * described). To be closed in any case. CLV_EUSAGE, CLV_EFORMAT: rules or cuts do not go with the
 * model. */
clv_status clv_stage_search_open(clv_stage_search *s, int32_t devices, int64_t memory_bytes,
                                 clv_error *err);
void clv_stage_search_close(clv_stage_search *s);

/* Searches what is open. Where no plan of the units meets the rules, s is opened again with each
 * operator as a unit, and that is searched. */
clv_status clv_stage_search_run(clv_stage_search *s, const clv_partition_options *options,
                                clv_partition_result *ret, clv_error *err);

#endif
