/* ort.h - the one door to ONNX Runtime: its C API, with our way of reporting failures.
 *
 * Prefix: clv_ is the library's, clr_ what belongs to cleave-run.
 */
#ifndef CLV_RUN_ORT_H
#define CLV_RUN_ORT_H

#include <onnxruntime_c_api.h>

#include "base/arena.h"

/* Of one process: all sessions are made in it. Read-only once open, from any thread. */
typedef struct {
    const OrtApi *api;
    OrtEnv *env;
    OrtAllocator *allocator; /* the default one, of the CPU; not to be released */
    const char *version;     /* of the library, as "1.30.0" */
} clr_ort;

/* CLV_EUNSUPP: the library is older than the header that this was built with. */
clv_status clr_ort_open(clr_ort *ret, clv_error *err);
void clr_ort_close(clr_ort *ort); /* zeroed is fine */

/* Frees status and reports it as ours; the sentence begins with what. NULL is CLV_OK. A model that
 * is not valid or has operators without a kernel is CLV_EFORMAT or CLV_EUNSUPP. */
clv_status clr_ort_check(const clr_ort *ort, OrtStatus *status, const char *what, clv_error *err);

/* Loads and drops a model of one operator, so that what the first session of a process takes for
 * the runtime itself, some 10 MB, does not count as the first model's. */
clv_status clr_ort_warm_up(const clr_ort *ort, clv_error *err);

#endif
