#include "run/warm.h"

/* x[1], y[1]: name; type { tensor_type { elem_type: FLOAT; shape { dim { dim_value: 1 } } } } */
#define VALUE(name)                                                                                \
    0x0a, 0x01, name, 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x01
#define VALUE_SIZE 0x0f

/* A ModelProto, field by field. */
static const unsigned char identity[] = {
    0x08, 0x08,                                                       /* ir_version: 8 */
    0x3a, 0x37,                                                       /* graph */
    0x0a, 0x10,                                                       /*   node */
    0x0a, 0x01,       'x',                                            /*     input */
    0x12, 0x01,       'y',                                            /*     output */
    0x22, 0x08,       'I',        'd',  'e', 'n', 't', 'i', 't', 'y', /*     op_type */
    0x12, 0x01,       'g',                                            /*   name */
    0x5a, VALUE_SIZE, VALUE('x'),                                     /*   input */
    0x62, VALUE_SIZE, VALUE('y'),                                     /*   output */
    0x42, 0x02,       0x10,       0x11,                               /* opset_import: version 17 */
};

clv_status clr_ort_warm_up(const clr_ort *ort, clv_error *err)
{
    const OrtApi *api = ort->api;
    OrtSessionOptions *options = NULL;
    OrtSession *session = NULL;

    CLV_TRY(clr_ort_check(ort, api->CreateSessionOptions(&options), "a first model", err));
    OrtStatus *status = api->SetIntraOpNumThreads(options, 1);
    if (!status)
        status =
            api->CreateSessionFromArray(ort->env, identity, sizeof identity, options, &session);
    api->ReleaseSessionOptions(options);
    if (session)
        api->ReleaseSession(session);
    return clr_ort_check(ort, status, "a first model", err);
}
