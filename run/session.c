#include "run/session.h"

#include <string.h>

#include "base/clock.h"

/* Merging equal nodes or computing constant ones could take a collective out of one device's model
 * and not out of another's. Name and value as in onnxruntime_session_options_config_keys.h. */
#define KEY_DISABLED    "optimization.disable_specified_optimizers"
#define MOVES_OPERATORS "CommonSubexpressionElimination;ConstantFolding;ConstantSharing"

/* The runtime would compute a product with weights of 4 bits with inputs rounded to 8, but only
 * where it sees product and weights in one model. 1: in float32, as the model says. */
#define KEY_NBITS_ACCURACY "session.qdq_matmulnbits_accuracy_level"
#define NBITS_AS_SAID      "1"

int32_t clr_find_port(const clr_ports *ports, const char *name)
{
    for (int32_t i = 0; i < ports->n; i++)
        if (strcmp(ports->names[i], name) == 0)
            return i;
    return -1;
}

static GraphOptimizationLevel level_of(const clr_session_options *o)
{
    switch (o->level) {
    case CLR_OPT_NONE:
        return ORT_DISABLE_ALL;
    case CLR_OPT_BASIC:
        return ORT_ENABLE_BASIC;
    case CLR_OPT_EXTENDED:
        return ORT_ENABLE_EXTENDED;
    case CLR_OPT_ALL:
        break;
    }
    return ORT_ENABLE_ALL;
}

static OrtStatus *set_options(const OrtApi *api, const clr_session_options *o,
                              OrtSessionOptions *to)
{
    OrtStatus *s = api->SetSessionExecutionMode(to, ORT_SEQUENTIAL);

    if (!s)
        s = api->SetSessionGraphOptimizationLevel(to, level_of(o));
    if (!s)
        s = api->AddSessionConfigEntry(to, KEY_NBITS_ACCURACY, NBITS_AS_SAID);
    if (!s && o->threads > 0)
        s = api->SetIntraOpNumThreads(to, o->threads);
    if (!s && o->profile)
        s = api->EnableProfiling(to, o->profile);
    if (!s && o->communicates)
        s = api->AddSessionConfigEntry(to, KEY_DISABLED, MOVES_OPERATORS);
    for (int i = 0; i < o->n_domains && !s; i++)
        s = api->AddCustomOpDomain(to, o->domains[i]);
    return s;
}

/* -- what goes in and out -- */

static clv_status read_type(const clr_ort *ort, const OrtTypeInfo *type, clv_arena *arena,
                            clr_port *port, clv_error *err)
{
    const OrtApi *api = ort->api;
    const OrtTensorTypeAndShapeInfo *info = NULL; /* is part of type */
    const char *symbols[CLR_MAX_RANK] = { 0 }, *name = port->name;
    size_t rank = 0;

    CLV_TRY(clr_ort_check(ort, api->GetOnnxTypeFromTypeInfo(type, &port->kind), name, err));
    if (port->kind != ONNX_TYPE_TENSOR)
        return CLV_OK;
    CLV_TRY(clr_ort_check(ort, api->CastTypeInfoToTensorInfo(type, &info), name, err));
    CLV_TRY(clr_ort_check(ort, api->GetTensorElementType(info, &port->shape.dtype), name, err));
    port->shape.dtype = clr_dtype_from_runtime(port->shape.dtype);
    CLV_TRY(clr_ort_check(ort, api->GetDimensionsCount(info, &rank), name, err));
    if (rank > CLR_MAX_RANK)
        return clv_fail(err, CLV_ELIMIT, "'%s' has %zu dimensions, expected at most %d", name, rank,
                        CLR_MAX_RANK);
    CLV_TRY(clr_ort_check(ort, api->GetDimensions(info, port->shape.dims, rank), name, err));
    CLV_TRY(clr_ort_check(ort, api->GetSymbolicDimensions(info, symbols, rank), name, err));
    port->shape.rank = (int32_t)rank;
    port->symbols = CLV_NEW_ARRAY(arena, const char *, rank);
    if (!port->symbols)
        return clv_fail_nomem(err, "an input");
    for (size_t i = 0; i < rank; i++) {
        port->symbols[i] = clv_arena_printf(arena, "%s", symbols[i] ? symbols[i] : "");
        if (!port->symbols[i])
            return clv_fail_nomem(err, "an input");
    }
    return CLV_OK;
}

static clv_status read_port(const clr_session *s, bool is_input, size_t i, clv_arena *arena,
                            clr_port *port, clv_error *err)
{
    const clr_ort *ort = s->ort;
    char *name = NULL;
    OrtTypeInfo *type = NULL;
    OrtStatus *named = is_input
                           ? ort->api->SessionGetInputName(s->session, i, ort->allocator, &name)
                           : ort->api->SessionGetOutputName(s->session, i, ort->allocator, &name);

    CLV_TRY(clr_ort_check(ort, named, s->path, err));
    port->name = clv_arena_printf(arena, "%s", name);
    ort->allocator->Free(ort->allocator, name);
    if (!port->name)
        return clv_fail_nomem(err, "an input");
    CLV_TRY(clr_ort_check(ort,
                          is_input ? ort->api->SessionGetInputTypeInfo(s->session, i, &type)
                                   : ort->api->SessionGetOutputTypeInfo(s->session, i, &type),
                          s->path, err));
    clv_status status = read_type(ort, type, arena, port, err);
    ort->api->ReleaseTypeInfo(type);
    return status;
}

static clv_status read_ports(const clr_session *s, bool are_inputs, clv_arena *arena,
                             clr_ports *ret, clv_error *err)
{
    const OrtApi *api = s->ort->api;
    size_t n = 0;

    CLV_TRY(clr_ort_check(s->ort,
                          are_inputs ? api->SessionGetInputCount(s->session, &n)
                                     : api->SessionGetOutputCount(s->session, &n),
                          s->path, err));
    *ret = (clr_ports){ CLV_NEW_ARRAY(arena, clr_port, n), CLV_NEW_ARRAY(arena, const char *, n),
                        (int32_t)n };
    if (!ret->at || !ret->names)
        return clv_fail_nomem(err, "inputs and outputs");
    for (size_t i = 0; i < n; i++) {
        CLV_TRY(read_port(s, are_inputs, i, arena, &ret->at[i], err));
        ret->names[i] = ret->at[i].name;
    }
    return CLV_OK;
}

/* -- life -- */

static clv_status create(clr_session *s, const clr_session_options *options, clv_error *err)
{
    const OrtApi *api = s->ort->api;
    OrtSessionOptions *o = NULL;

    CLV_TRY(clr_ort_check(s->ort, api->CreateSessionOptions(&o), s->path, err));
    clv_status status = clr_ort_check(s->ort, set_options(api, options, o), s->path, err);
    if (status == CLV_OK)
        status = clr_ort_check(s->ort, api->CreateSession(s->ort->env, s->path, o, &s->session),
                               s->path, err);
    api->ReleaseSessionOptions(o);
    return status;
}

clv_status clr_session_open(const clr_ort *ort, const char *path,
                            const clr_session_options *options, clv_arena *arena, clr_session *ret,
                            clv_error *err)
{
    clr_session s = { .ort = ort, .path = path };
    int64_t start = clv_now_ns();

    CLV_TRY(create(&s, options, err));
    clv_status status = read_ports(&s, true, arena, &s.inputs, err);
    if (status == CLV_OK)
        status = read_ports(&s, false, arena, &s.outputs, err);
    if (status != CLV_OK) {
        clr_session_close(&s);
        return status;
    }
    s.load_s = clv_seconds_since(start);
    *ret = s;
    return CLV_OK;
}

void clr_session_close(clr_session *session)
{
    if (session->session)
        session->ort->api->ReleaseSession(session->session);
    *session = (clr_session){ 0 };
}

clv_status clr_session_run(const clr_session *s, const OrtRunOptions *run_options,
                           const OrtValue *const *inputs, OrtValue **outputs, clv_error *err)
{
    memset(outputs, 0, (size_t)s->outputs.n * sizeof *outputs);
    return clr_ort_check(s->ort,
                         s->ort->api->Run(s->session, run_options, s->inputs.names, inputs,
                                          (size_t)s->inputs.n, s->outputs.names,
                                          (size_t)s->outputs.n, outputs),
                         s->path, err);
}

clv_status clr_session_metadata(const clr_session *s, const char *key, clv_arena *arena,
                                const char **ret, clv_error *err)
{
    const clr_ort *ort = s->ort;
    OrtModelMetadata *metadata = NULL;
    char *value = NULL;

    CLV_TRY(
        clr_ort_check(ort, ort->api->SessionGetModelMetadata(s->session, &metadata), s->path, err));
    clv_status status = clr_ort_check(
        ort, ort->api->ModelMetadataLookupCustomMetadataMap(metadata, ort->allocator, key, &value),
        s->path, err);
    ort->api->ReleaseModelMetadata(metadata);
    if (status != CLV_OK)
        return status;
    *ret = value ? clv_arena_printf(arena, "%s", value) : NULL;
    bool failed = value && !*ret;
    if (value)
        ort->allocator->Free(ort->allocator, value);
    return failed ? clv_fail_nomem(err, "metadata") : CLV_OK;
}

clv_status clr_session_profile(clr_session *s, clv_arena *arena, const char **ret, clv_error *err)
{
    char *path = NULL;

    CLV_TRY(clr_ort_check(s->ort,
                          s->ort->api->SessionEndProfiling(s->session, s->ort->allocator, &path),
                          s->path, err));
    *ret = clv_arena_printf(arena, "%s", path);
    s->ort->allocator->Free(s->ort->allocator, path);
    return *ret ? CLV_OK : clv_fail_nomem(err, "a path");
}
