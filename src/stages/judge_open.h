/* judge_open.h - the judge of a search for stages: the built-in compiler or a command, on workers.
 */
#ifndef CLV_STAGES_JUDGE_OPEN_H
#define CLV_STAGES_JUDGE_OPEN_H

#include "stages/stage_state.h"

/* Opens compiler, pool and judge of s, whose problem and workload are there; memory is judged for
 * as many micro-batches as the request asks for. clv_stage_search_close() closes them. */
clv_status clv_stage_judge_open(clv_stage_search *s, clv_error *err);

/* Waits until what s->first names is judged, and forgets it: another pool does not begin it again.
 */
clv_status clv_stage_judge_finish_first(clv_stage_search *s, clv_error *err);

#endif
