#include "run/ort.h"

#include <stdlib.h>
#include <string.h>

/* What the runtime would say on standard error is in the status it returns; warnings about odd but
 * working models are of no use here. */
static void ORT_API_CALL stay_silent(void *param, OrtLoggingLevel severity, const char *category,
                                     const char *id, const char *where, const char *message)
{
    (void)param, (void)severity, (void)category, (void)id, (void)where, (void)message;
}

clv_status clr_ort_open(clr_ort *ret, clv_error *err)
{
    /* Builds of the runtime report their use to their maker; nothing that is run here is to be
     * reported to anyone. The variable is read when the first environment is made. */
    if (setenv("ORT_DISABLE_TELEMETRY", "1", 1) != 0)
        return clv_fail_nomem(err, "the environment");
    const OrtApiBase *base = OrtGetApiBase();
    clr_ort ort = { .api = base->GetApi(ORT_API_VERSION), .version = base->GetVersionString() };

    if (!ort.api)
        return clv_fail(err, CLV_EUNSUPP,
                        "ONNX Runtime %s is too old: version %d of its C API is needed",
                        ort.version, ORT_API_VERSION);
    CLV_TRY(clr_ort_check(&ort,
                          ort.api->CreateEnvWithCustomLogger(
                              stay_silent, NULL, ORT_LOGGING_LEVEL_FATAL, "cleave-run", &ort.env),
                          "ONNX Runtime does not start", err));
    clv_status status = clr_ort_check(&ort, ort.api->DisableTelemetryEvents(ort.env),
                                      "the runtime's telemetry cannot be turned off", err);
    if (status == CLV_OK)
        status = clr_ort_check(&ort, ort.api->GetAllocatorWithDefaultOptions(&ort.allocator),
                               "no allocator", err);
    if (status != CLV_OK) {
        ort.api->ReleaseEnv(ort.env);
        return status;
    }
    *ret = ort;
    return CLV_OK;
}

void clr_ort_close(clr_ort *ort)
{
    if (ort->env)
        ort->api->ReleaseEnv(ort->env);
    *ort = (clr_ort){ 0 };
}

static clv_status status_of(OrtErrorCode code, const char *message)
{
    switch (code) {
    case ORT_OK:
        return CLV_OK;
    case ORT_NO_SUCHFILE:
        return CLV_EIO;
    case ORT_NOT_IMPLEMENTED:
        return CLV_EUNSUPP;
    case ORT_FAIL:
    case ORT_INVALID_ARGUMENT:
    case ORT_NO_MODEL:
    case ORT_ENGINE_ERROR:
    case ORT_RUNTIME_EXCEPTION:
    case ORT_INVALID_PROTOBUF:
    case ORT_MODEL_LOADED:
    case ORT_INVALID_GRAPH:
    case ORT_EP_FAIL:
        break;
    }
    /* the runtime has no code of its own for these */
    if (strstr(message, "bad_alloc") || strstr(message, "Failed to allocate memory"))
        return CLV_ENOMEM;
    if (strstr(message, "open file") && strstr(message, "failed"))
        return CLV_EIO;
    /* a kernel that does not want what the model asks for says so when it is made */
    if (strstr(message, "is not a registered function/op") || strstr(message, "Opset ") ||
        strstr(message, "No Op registered for") ||
        strstr(message, "Exception during initialization"))
        return CLV_EUNSUPP;
    return CLV_EFORMAT;
}

/* Its messages may begin with the place in its source and end with line breaks. */
static const char *plain_words(const char *message)
{
    const char *colon;

    if (message[0] == '/' && (colon = strchr(message, ':')) && (colon = strstr(colon, ") ")))
        return colon + 2;
    return message;
}

clv_status clr_ort_check(const clr_ort *ort, OrtStatus *status, const char *what, clv_error *err)
{
    if (!status)
        return CLV_OK;
    const char *message = ort->api->GetErrorMessage(status);
    clv_status ours = status_of(ort->api->GetErrorCode(status), message);
    int n = (int)strlen(plain_words(message));

    while (n > 0 && strchr("\n ", plain_words(message)[n - 1]))
        n--;
    ours = clv_fail(err, ours, "%s: %.*s", what, n, plain_words(message));
    ort->api->ReleaseStatus(status);
    return ours;
}

/* -- the first model of a process -- */

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
