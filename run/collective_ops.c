#include "run/collective_ops.h"

#include "run/collective_kernel.h"

/* The domains that the operators may be in. */
static const struct {
    const char *name;
    int first_op, n_ops;
} domains[] = { { "com.microsoft", 0, CLR_N_COLLECTIVE_OPS },
                { "trt", CLR_DIST_COLLECTIVE, 1 },
                { "", CLR_DIST_COLLECTIVE, 1 } };
#define N_DOMAINS ((int)(sizeof domains / sizeof *domains))

/* The runtime hands this back as the OrtCustomOp that it begins with. */
typedef struct {
    OrtCustomOp custom;
    clr_collective_ops *owner;
    int which;
} op;

struct clr_collective_ops {
    clr_participant device; /* its arena holds this */
    op ops[CLR_N_COLLECTIVE_OPS];
    OrtCustomOpDomain *domains[N_DOMAINS];
};

/* -- what the runtime calls -- */

static OrtStatus *to_ort_status(const clr_ort *ort, clv_status status, const clv_error *err)
{
    return status == CLV_OK
               ? NULL
               : ort->api->CreateStatus(status == CLV_EUNSUPP ? ORT_NOT_IMPLEMENTED : ORT_FAIL,
                                        err->message);
}

static OrtStatus *ORT_API_CALL create_kernel(const OrtCustomOp *custom, const OrtApi *api,
                                             const OrtKernelInfo *info, void **ret)
{
    const op *o = (const op *)custom;
    clv_error err;
    clr_kernel *k = NULL;
    clv_status status = clr_kernel_new(&o->owner->device, o->which, api, info, &k, &err);

    *ret = k;
    return to_ort_status(o->owner->device.ort, status, &err);
}

static OrtStatus *ORT_API_CALL compute_kernel(void *made, OrtKernelContext *context)
{
    clr_kernel *k = made;
    clv_error err;
    clv_status status = clr_kernel_run(k, context, &err);

    return to_ort_status(clr_kernel_owner(k)->ort, status, &err);
}

static void ORT_API_CALL destroy_kernel(void *made) { (void)made; /* lives in the arena */ }

static const char *ORT_API_CALL name_of(const OrtCustomOp *custom)
{
    return clr_collective_op_name(((const op *)custom)->which);
}

static const char *ORT_API_CALL provider_of(const OrtCustomOp *custom)
{
    (void)custom;
    return NULL; /* the CPU's */
}

static ONNXTensorElementDataType ORT_API_CALL any_type(const OrtCustomOp *custom, size_t index)
{
    (void)custom, (void)index;
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

static size_t ORT_API_CALL one(const OrtCustomOp *custom)
{
    (void)custom;
    return 1;
}

static OrtCustomOpInputOutputCharacteristic ORT_API_CALL required(const OrtCustomOp *custom,
                                                                  size_t index)
{
    (void)custom, (void)index;
    return INPUT_OUTPUT_REQUIRED;
}

static OrtMemType ORT_API_CALL default_memory(const OrtCustomOp *custom, size_t index)
{
    (void)custom, (void)index;
    return OrtMemTypeDefault;
}

static int ORT_API_CALL first_version(const OrtCustomOp *custom)
{
    (void)custom;
    return 1;
}

static int ORT_API_CALL last_version(const OrtCustomOp *custom)
{
    (void)custom;
    return INT32_MAX;
}

static void describe(op *o, clr_collective_ops *owner, int i)
{
    *o = (op){ .owner = owner, .which = i };
    o->custom = (OrtCustomOp){ .version = ORT_API_VERSION,
                               .GetName = name_of,
                               .GetExecutionProviderType = provider_of,
                               .GetInputType = any_type,
                               .GetInputTypeCount = one,
                               .GetOutputType = any_type,
                               .GetOutputTypeCount = one,
                               .KernelDestroy = destroy_kernel,
                               .GetInputCharacteristic = required,
                               .GetOutputCharacteristic = required,
                               .GetInputMemoryType = default_memory,
                               .CreateKernelV2 = create_kernel,
                               .KernelComputeV2 = compute_kernel,
                               .GetStartVersion = first_version,
                               .GetEndVersion = last_version };
}

/* -- life -- */

static clv_status make_domains(clr_collective_ops *c, clv_error *err)
{
    const OrtApi *api = c->device.ort->api;

    for (int i = 0; i < CLR_N_COLLECTIVE_OPS; i++)
        describe(&c->ops[i], c, i);
    for (int d = 0; d < N_DOMAINS; d++) {
        CLV_TRY(clr_ort_check(c->device.ort,
                              api->CreateCustomOpDomain(domains[d].name, &c->domains[d]),
                              "a domain", err));
        for (int i = 0; i < domains[d].n_ops; i++)
            CLV_TRY(clr_ort_check(
                c->device.ort,
                api->CustomOpDomain_Add(c->domains[d], &c->ops[domains[d].first_op + i].custom),
                "an operator", err));
    }
    return CLV_OK;
}

clv_status clr_collective_ops_new(const clr_ort *ort, const clr_program *program, int32_t member,
                                  clr_rendezvous *rendezvous, clr_collective_ops **ret,
                                  clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clr_collective_ops *c = arena ? CLV_NEW(arena, clr_collective_ops) : NULL;

    if (!c) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "collectives");
    }
    c->device = (clr_participant){ arena, ort, program, member, rendezvous };
    clv_status status = make_domains(c, err);
    if (status != CLV_OK) {
        clr_collective_ops_free(c);
        return status;
    }
    *ret = c;
    return CLV_OK;
}

void clr_collective_ops_free(clr_collective_ops *collectives)
{
    if (!collectives)
        return;
    for (int i = 0; i < N_DOMAINS; i++)
        if (collectives->domains[i])
            collectives->device.ort->api->ReleaseCustomOpDomain(collectives->domains[i]);
    clv_arena_free(collectives->device.arena);
}

OrtCustomOpDomain **clr_collective_ops_domains(clr_collective_ops *collectives, int *ret_n)
{
    *ret_n = N_DOMAINS;
    return collectives->domains;
}
