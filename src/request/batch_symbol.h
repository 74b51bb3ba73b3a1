/* batch_symbol.h - the symbol of the model whose size is left to the search: the batch.
 */
#ifndef CLV_REQUEST_BATCH_SYMBOL_H
#define CLV_REQUEST_BATCH_SYMBOL_H

#include "request/request.h"

typedef struct {
    int32_t symbol; /* of the model; -1: none is to be searched */
    bool found;     /* nobody named it */
} clv_batch_symbol;

/* The one that the request names; by throughput, where it names none, the symbol without a size
 * that is the first dimension of all inputs that have one, but for names that speak of sequences or
 * times. CLV_EUSAGE: one is named that has a size, or for another objective. CLV_EFORMAT: it is no
 * symbol of the model, or the first dimension of no input; and sizes that contradict each other.
 * O(inputs), and clv_infer_relations() where sizes are given beside it. */
clv_status clv_batch_symbol_find(const clv_request *req, clv_arena *arena, clv_batch_symbol *ret,
                                 clv_error *err);

#endif
