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

/* Builds of the runtime report their use to their maker unless told not to. Nothing that is run
 * here is to be told to anyone. */
static clv_status keep_to_ourselves(const clr_ort *ort, clv_error *err)
{
    return clr_ort_check(ort, ort->api->DisableTelemetryEvents(ort->env),
                         "the runtime's telemetry cannot be turned off", err);
}

clv_status clr_ort_open(clr_ort *ret, clv_error *err)
{
    /* looked at when the first environment is made */
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
    clv_status status = keep_to_ourselves(&ort, err);
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
