/* batch_entry.h - one entry of a batch, run and compared with what is expected. */
#ifndef CLV_RUN_BATCH_ENTRY_H
#define CLV_RUN_BATCH_ENTRY_H

#include "run/batch_list.h"

/* Runs it and compares; threads: of one operator. *ret is one line of JSON in the arena, whatever
 * happens: CLV_ENOMEM is the only failure. */
clv_status clr_batch_entry_run(const clr_ort *ort, const clr_batch_entry *entry, int threads,
                               clv_arena *arena, const char **ret, clv_error *err);
/* The line for an entry whose process did not live to write it: "crashed" or "timeout". NULL
 * without memory. */
const char *clr_batch_entry_lost(const clr_batch_entry *entry, const char *outcome,
                                 const char *reason, clv_arena *arena);

#endif
