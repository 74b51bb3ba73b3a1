#include "run/collectives.h"

#include <inttypes.h>
#include <string.h>

#include "run/reduce.h"

typedef enum {
    ALL_REDUCE,
    ALL_GATHER,
    ALL_TO_ALL,
    REDUCE_SCATTER,
    BROADCAST,
    BY_ATTRIBUTE /* DistCollective: the node says which */
} kind;

static const char *const kind_names[] = { "all_reduce", "all_gather", "all_to_all",
                                          "reduce_scatter", "broadcast" };
#define N_KINDS ((int)(sizeof kind_names / sizeof *kind_names))

/* The operators, and the domains that they may be in. */
static const struct {
    const char *name;
    kind kind;
} ops[] = { { "AllReduce", ALL_REDUCE },
            { "AllGather", ALL_GATHER },
            { "AllToAll", ALL_TO_ALL },
            { "DistCollective", BY_ATTRIBUTE } };
#define N_OPS ((int)(sizeof ops / sizeof *ops))
static const struct {
    const char *name;
    int first_op, n_ops;
} domains[] = { { "com.microsoft", 0, N_OPS }, { "trt", 3, 1 }, { "", 3, 1 } };
#define N_DOMAINS ((int)(sizeof domains / sizeof *domains))

/* The runtime hands this back as the OrtCustomOp that it begins with. */
typedef struct {
    OrtCustomOp custom;
    clr_collectives *owner;
    const char *name;
    kind kind;
} op;

struct clr_collectives {
    clv_arena *arena; /* holds this */
    const clr_ort *ort;
    const clr_program *program;
    int32_t member;
    clr_meet *meet;
    op ops[N_OPS];
    OrtCustomOpDomain *domains[N_DOMAINS];
};

/* What a device shows to the others of its group. */
typedef struct {
    kind kind;
    clr_reduce reduce;
    int64_t axis, root;
    clr_shape shape;
    const void *in;
    void *out;
} offer;

typedef struct {
    clr_collectives *owner;
    const char *node;
    clr_place *place;
    int32_t *group, n, me; /* members, and which of them this is */
    offer offer;           /* but for the tensors */
} kernel;

/* -- making a kernel: attributes and group -- */

typedef struct {
    const OrtApi *api;
    const OrtKernelInfo *info;
    clv_arena *arena;
} attributes;

/* Where the node has no such attribute, *ret stays. */
static void get_int(const attributes *a, const char *name, int64_t *ret)
{
    OrtStatus *status = a->api->KernelInfoGetAttribute_int64(a->info, name, ret);

    if (status)
        a->api->ReleaseStatus(status);
}

static const char *get_text(const attributes *a, const char *name, const char *otherwise)
{
    size_t n = 0;
    char *text = NULL;
    OrtStatus *status = a->api->KernelInfoGetAttribute_string(a->info, name, NULL, &n);

    if (!status && (text = clv_arena_take(a->arena, n + 1)))
        status = a->api->KernelInfoGetAttribute_string(a->info, name, text, &n);
    if (!status)
        return text ? text : otherwise;
    a->api->ReleaseStatus(status);
    return otherwise;
}

static const int64_t *get_ints(const attributes *a, const char *name, size_t *ret_n)
{
    size_t n = 0;
    int64_t *ints = NULL;
    OrtStatus *status = a->api->KernelInfoGetAttributeArray_int64(a->info, name, NULL, &n);

    if (!status && n > 0 && (ints = CLV_NEW_ARRAY(a->arena, int64_t, n)))
        status = a->api->KernelInfoGetAttributeArray_int64(a->info, name, ints, &n);
    *ret_n = status || !ints ? 0 : n;
    if (status)
        a->api->ReleaseStatus(status);
    return ints;
}

static clv_status node_name(const attributes *a, const clr_ort *ort, const char **ret,
                            clv_error *err)
{
    size_t n = 0;

    CLV_TRY(clr_ort_check(ort, a->api->KernelInfo_GetNodeName(a->info, NULL, &n), "a node", err));
    char *name = clv_arena_take(a->arena, n + 1);
    if (!name)
        return clv_fail_nomem(err, "a name");
    CLV_TRY(clr_ort_check(ort, a->api->KernelInfo_GetNodeName(a->info, name, &n), "a node", err));
    *ret = name;
    return CLV_OK;
}

static clv_status read_attributes(const attributes *a, const op *o, kernel *k, clv_error *err)
{
    const char *reduce, *collective;

    k->offer.kind = o->kind;
    get_int(a, "axis", &k->offer.axis);
    get_int(a, "root", &k->offer.root);
    if (o->kind != BY_ATTRIBUTE)
        return CLV_OK;
    collective = get_text(a, "collective_operation", "");
    for (int i = 0; i < N_KINDS; i++)
        if (strcmp(kind_names[i], collective) == 0)
            k->offer.kind = (kind)i;
    if (k->offer.kind == BY_ATTRIBUTE)
        return clv_fail(err, CLV_EUNSUPP,
                        "node '%s': collective_operation '%s' is not run here, only all_reduce, "
                        "all_gather, reduce_scatter, all_to_all and broadcast",
                        k->node, collective);
    if (k->offer.kind != ALL_REDUCE && k->offer.kind != REDUCE_SCATTER)
        return CLV_OK; /* whatever reduce_op says */
    reduce = get_text(a, "reduce_op", "sum");
    if (!clr_reduce_of(reduce, &k->offer.reduce))
        return clv_fail(err, CLV_EFORMAT,
                        "node '%s': reduce_op is '%s', expected sum, prod, min, max or avg",
                        k->node, reduce);
    return CLV_OK;
}

static clv_status find_me(kernel *k, clv_error *err)
{
    k->me = -1;
    for (int32_t i = 0; i < k->n; i++)
        if (k->group[i] == k->owner->member)
            k->me = i;
    return k->me >= 0 ? CLV_OK
                      : clv_fail(err, CLV_EFORMAT, "node '%s': no group of it has device %" PRId32,
                                 k->node, k->owner->member);
}

static clv_status make_group(const attributes *a, kernel *k, clv_error *err)
{
    const clr_program *p = k->owner->program;
    int32_t which = 0, first = 0, member = k->owner->member;
    int64_t size = p->n_members;
    size_t n = 0;
    const clr_collective *c = clr_program_collective(p, k->node, member, &which);

    if (c) {
        k->group = c->members + c->starts[which];
        k->n = c->starts[which + 1] - c->starts[which];
        return find_me(k, err);
    }
    get_int(a, "group_size", &size);
    if (size < 1 || size > p->n_members || p->n_members % size != 0)
        return clv_fail(err, CLV_EFORMAT,
                        "node '%s': group_size is %" PRId64 ", but there are %" PRId32 " devices",
                        k->node, size, p->n_members);
    const int64_t *groups = get_ints(a, "groups", &n);
    if (n % (size_t)size != 0)
        return clv_fail(err, CLV_EFORMAT, "node '%s': groups has not group_size devices each",
                        k->node);
    k->n = (int32_t)size;
    k->group = CLV_NEW_ARRAY(a->arena, int32_t, size);
    if (!k->group)
        return clv_fail_nomem(err, "a group");
    first = member / k->n * k->n;
    for (size_t i = 0; i < n; i++) {
        if (groups[i] < 0 || groups[i] >= p->n_members)
            return clv_fail(err, CLV_EFORMAT,
                            "node '%s': groups has device %" PRId64 ", but there are %" PRId32,
                            k->node, groups[i], p->n_members);
        if (groups[i] == member)
            first = (int32_t)(i / (size_t)size * (size_t)size);
    }
    for (int32_t i = 0; i < k->n; i++)
        k->group[i] = n ? (int32_t)groups[first + i] : first + i;
    return find_me(k, err);
}

static clv_status make_kernel(const op *o, const OrtApi *api, const OrtKernelInfo *info,
                              kernel **ret, clv_error *err)
{
    clr_collectives *owner = o->owner;
    attributes a = { api, info, owner->arena };
    kernel *k = CLV_NEW(owner->arena, kernel);

    if (!k)
        return clv_fail_nomem(err, "a kernel");
    k->owner = owner;
    CLV_TRY(node_name(&a, owner->ort, &k->node, err));
    CLV_TRY(read_attributes(&a, o, k, err));
    CLV_TRY(make_group(&a, k, err));
    CLV_TRY(clr_meet_place(owner->meet, k->node, k->group, k->n, sizeof(offer), &k->place, err));
    *ret = k;
    return CLV_OK;
}

/* -- running it -- */

static offer *offer_of(const kernel *k, int32_t i) { return clr_place_of(k->place, i); }

static clv_status differ(const kernel *k, int32_t i, clv_error *err)
{
    char a[160], b[160];

    return clv_fail(err, CLV_EFORMAT,
                    "node '%s': device %" PRId32 " comes with %s, device %" PRId32
                    " with %s, which do not go together",
                    k->node, k->group[0], clr_shape_text(a, sizeof a, &offer_of(k, 0)->shape),
                    k->group[i], clr_shape_text(b, sizeof b, &offer_of(k, i)->shape));
}

static clv_status check_offers(const kernel *k, clv_error *err)
{
    const offer *first = offer_of(k, 0);

    for (int32_t i = 1; i < k->n; i++) {
        const offer *o = offer_of(k, i);
        if (o->kind != first->kind || o->reduce != first->reduce || o->axis != first->axis ||
            o->root != first->root)
            return clv_fail(err, CLV_EFORMAT,
                            "node '%s': devices %" PRId32 " and %" PRId32
                            " want different collectives",
                            k->node, k->group[0], k->group[i]);
        bool same = o->shape.dtype == first->shape.dtype && o->shape.rank == first->shape.rank;
        for (int32_t d = 0; same && d < o->shape.rank; d++)
            same =
                o->shape.dims[d] == first->shape.dims[d] || (o->kind == ALL_GATHER && d == o->axis);
        if (!same)
            return differ(k, i, err);
    }
    return CLV_OK;
}

static clv_status own_output(const kernel *k, clr_shape *ret, clv_error *err)
{
    const offer *mine = offer_of(k, k->me);
    bool reduces = mine->kind == ALL_REDUCE || mine->kind == REDUCE_SCATTER;
    bool splits = mine->kind == ALL_TO_ALL || mine->kind == REDUCE_SCATTER;
    char text[160];

    *ret = mine->shape;
    if (mine->shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING ||
        clr_dtype_bits((int)mine->shape.dtype) < 8 ||
        (reduces && !clr_can_reduce((int)mine->shape.dtype)))
        return clv_fail(err, CLV_EUNSUPP, "node '%s': there is no %s of %s", k->node,
                        kind_names[mine->kind], clr_dtype_name((int)mine->shape.dtype));
    if ((splits && (mine->shape.rank == 0 || mine->shape.dims[0] % k->n != 0)) ||
        (mine->kind == ALL_GATHER && (mine->axis < 0 || mine->axis >= mine->shape.rank)) ||
        (mine->kind == BROADCAST && (mine->root < 0 || mine->root >= k->n)))
        return clv_fail(err, CLV_EFORMAT,
                        "node '%s': there is no %s of %s over %" PRId32 " devices (axis %" PRId64
                        ", root %" PRId64 ")",
                        k->node, kind_names[mine->kind],
                        clr_shape_text(text, sizeof text, &mine->shape), k->n, mine->axis,
                        mine->root);
    if (mine->kind == REDUCE_SCATTER)
        ret->dims[0] /= k->n;
    for (int32_t i = 0; mine->kind == ALL_GATHER && i < k->n; i++)
        if (i != k->me)
            ret->dims[mine->axis] += offer_of(k, i)->shape.dims[mine->axis];
    return clr_shape_count(ret)
               ? CLV_OK
               : clv_fail(err, CLV_ELIMIT, "node '%s': its output is too large", k->node);
}

/* Rows of each device, one behind the other, as often as there are rows before the axis. */
static void gather(const kernel *k)
{
    const offer *mine = offer_of(k, k->me);
    uint8_t *to = mine->out;
    int64_t outer = 1;

    for (int32_t d = 0; d < mine->axis; d++)
        outer *= mine->shape.dims[d];
    for (int64_t row = 0; row < outer; row++)
        for (int32_t i = 0; i < k->n; i++) {
            const offer *o = offer_of(k, i);
            size_t n = clr_dtype_bytes((int)o->shape.dtype, o->shape.count / outer);
            if (n)
                to = (uint8_t *)memcpy(to, (const uint8_t *)o->in + (size_t)row * n, n) + n;
        }
}

static void exchange(const kernel *k)
{
    const offer *mine = offer_of(k, k->me);
    size_t n = clr_dtype_bytes((int)mine->shape.dtype, mine->shape.count / k->n);

    for (int32_t i = 0; i < k->n && n; i++)
        memcpy((uint8_t *)mine->out + (size_t)i * n,
               (const uint8_t *)offer_of(k, i)->in + (size_t)k->me * n, n);
}

/* all_reduce: each device makes one share of it for all; reduce_scatter: its own. */
static clv_status reduce(const kernel *k, clv_error *err)
{
    const offer *mine = offer_of(k, k->me);
    int64_t count = mine->shape.count, first = count / k->n * k->me, n = count / k->n;
    clv_arena *arena = clv_arena_new(NULL, 0);
    const void **ins = arena ? CLV_NEW_ARRAY(arena, const void *, k->n) : NULL;
    void **outs = arena ? CLV_NEW_ARRAY(arena, void *, k->n) : NULL;
    bool scatter = mine->kind == REDUCE_SCATTER;

    if (!ins || !outs) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a collective");
    }
    for (int32_t i = 0; i < k->n; i++) {
        ins[i] = offer_of(k, i)->in;
        outs[i] = offer_of(k, scatter ? k->me : i)->out;
    }
    if (k->me == k->n - 1)
        n = count - first;
    clr_reduce_run(mine->reduce, (int)mine->shape.dtype, ins, k->n, outs, scatter ? 1 : k->n, first,
                   n, scatter);
    clv_arena_free(arena);
    return CLV_OK;
}

static clv_status compute(const kernel *k, clv_error *err)
{
    const offer *mine = offer_of(k, k->me), *root;

    switch (mine->kind) {
    case ALL_REDUCE:
    case REDUCE_SCATTER:
        return reduce(k, err);
    case ALL_GATHER:
        gather(k);
        break;
    case ALL_TO_ALL:
        exchange(k);
        break;
    case BROADCAST:
        root = offer_of(k, (int32_t)mine->root);
        if (mine->shape.count)
            memcpy(mine->out, root->in, clr_dtype_bytes((int)mine->shape.dtype, mine->shape.count));
        break;
    case BY_ATTRIBUTE: /* resolved when the kernel was made */
        break;
    }
    return CLV_OK;
}

static clv_status run(kernel *k, OrtKernelContext *context, clv_error *err)
{
    clr_collectives *c = k->owner;
    const OrtApi *api = c->ort->api;
    const OrtValue *in = NULL;
    OrtValue *out = NULL;
    offer *mine = offer_of(k, k->me);
    clr_shape shape;
    void *data = NULL;

    CLV_TRY(clr_ort_check(c->ort, api->KernelContext_GetInput(context, 0, &in), k->node, err));
    *mine = k->offer;
    CLV_TRY(clr_tensor_shape(c->ort, in, &mine->shape, err));
    if (mine->kind == ALL_GATHER && mine->axis < 0)
        mine->axis += mine->shape.rank;
    if (mine->shape.dtype != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
        CLV_TRY(clr_tensor_data(c->ort, in, &data, err));
    mine->in = data;
    CLV_TRY(clr_meet_wait(c->meet, k->place, c->member, err));
    CLV_TRY(check_offers(k, err));
    CLV_TRY(own_output(k, &shape, err));
    CLV_TRY(clr_ort_check(
        c->ort, api->KernelContext_GetOutput(context, 0, shape.dims, (size_t)shape.rank, &out),
        k->node, err));
    CLV_TRY(clr_tensor_data(c->ort, out, &mine->out, err));
    CLV_TRY(clr_meet_wait(c->meet, k->place, c->member, err)); /* outputs are there */
    CLV_TRY(compute(k, err));
    return clr_meet_wait(c->meet, k->place, c->member, err); /* nobody looks at my input any more */
}

/* -- what the runtime calls -- */

static OrtStatus *tell(const clr_ort *ort, clv_status status, const clv_error *err)
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
    kernel *k = NULL;
    clv_status status = make_kernel(o, api, info, &k, &err);

    *ret = k;
    return tell(o->owner->ort, status, &err);
}

static OrtStatus *ORT_API_CALL compute_kernel(void *made, OrtKernelContext *context)
{
    kernel *k = made;
    clv_error err;
    clv_status status = run(k, context, &err);

    return tell(k->owner->ort, status, &err);
}

static void ORT_API_CALL destroy_kernel(void *made) { (void)made; /* lives in the arena */ }

static const char *ORT_API_CALL name_of(const OrtCustomOp *custom)
{
    return ((const op *)custom)->name;
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

static void describe(op *o, clr_collectives *owner, int i)
{
    *o = (op){ .owner = owner, .name = ops[i].name, .kind = ops[i].kind };
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

static clv_status make_domains(clr_collectives *c, clv_error *err)
{
    const OrtApi *api = c->ort->api;

    for (int i = 0; i < N_OPS; i++)
        describe(&c->ops[i], c, i);
    for (int d = 0; d < N_DOMAINS; d++) {
        CLV_TRY(clr_ort_check(c->ort, api->CreateCustomOpDomain(domains[d].name, &c->domains[d]),
                              "a domain", err));
        for (int i = 0; i < domains[d].n_ops; i++)
            CLV_TRY(clr_ort_check(
                c->ort,
                api->CustomOpDomain_Add(c->domains[d], &c->ops[domains[d].first_op + i].custom),
                "an operator", err));
    }
    return CLV_OK;
}

clv_status clr_collectives_new(const clr_ort *ort, const clr_program *program, int32_t member,
                               clr_meet *meet, clr_collectives **ret, clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clr_collectives *c = arena ? CLV_NEW(arena, clr_collectives) : NULL;

    if (!c) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "collectives");
    }
    c->arena = arena;
    c->ort = ort;
    c->program = program;
    c->member = member;
    c->meet = meet;
    clv_status status = make_domains(c, err);
    if (status != CLV_OK) {
        clr_collectives_free(c);
        return status;
    }
    *ret = c;
    return CLV_OK;
}

void clr_collectives_free(clr_collectives *collectives)
{
    if (!collectives)
        return;
    for (int i = 0; i < N_DOMAINS; i++)
        if (collectives->domains[i])
            collectives->ort->api->ReleaseCustomOpDomain(collectives->domains[i]);
    clv_arena_free(collectives->arena);
}

OrtCustomOpDomain **clr_collectives_domains(clr_collectives *collectives, int *ret_n)
{
    *ret_n = N_DOMAINS;
    return collectives->domains;
}
