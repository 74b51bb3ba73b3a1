/* plan_of_model.h - whether a plan is for a model, as far as that shows at once. */
#ifndef CLV_API_PLAN_OF_MODEL_H
#define CLV_API_PLAN_OF_MODEL_H

#include "api/objects.h"

/* CLV_EUSAGE where the plan has not an entry for each operator of the model. */
static inline clv_status clv_check_plan_of_model(const cleave_model *model, const cleave_plan *plan,
                                                 clv_error *err)
{
    return plan->plan->n_ops == model->model->main->n_ops
               ? CLV_OK
               : clv_fail(err, CLV_EUSAGE, "the plan is for another model");
}

#endif
