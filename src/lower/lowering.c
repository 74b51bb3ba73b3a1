#include "lower/lowering.h"

const char *clv_lower_form_name(clv_lower_form form)
{
    static const char *const names[CLV_N_FORMS] = { "stages", "devices", "emulate", "ort-options",
                                                    "olive" };
    return names[form];
}

bool clv_lower_form_is_annotated(clv_lower_form form)
{
    return form == CLV_FORM_ORT_OPTIONS || form == CLV_FORM_OLIVE;
}

bool clv_lower_form_has_devices(clv_lower_form form)
{
    return form == CLV_FORM_STAGES || form == CLV_FORM_DEVICES;
}
