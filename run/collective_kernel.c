#include "run/collective_kernel.h"

#include <inttypes.h>
#include <string.h>

#include "base/packed.h"
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

typedef struct {
    const char *name;
    kind kind;
} op;

static const op ops[CLR_N_COLLECTIVE_OPS] = { { "AllReduce", ALL_REDUCE },
                                              { "AllGather", ALL_GATHER },
                                              { "AllToAll", ALL_TO_ALL },
                                              [CLR_DIST_COLLECTIVE] = { "DistCollective",
                                                                        BY_ATTRIBUTE } };

const char *clr_collective_op_name(int which) { return ops[which].name; }

/* What a device shows to the others of its group. */
typedef struct {
    kind kind;
    clr_reduce_op reduce;
    int64_t axis, root;
    clr_shape shape;
    const void *in;
    void *out;
} offer;

struct clr_kernel {
    const clr_participant *owner;
    const char *node;
    clr_barrier *barrier;
    clr_group group;
    int32_t me;  /* which of the group this is */
    offer offer; /* but for the tensors */
};

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

static clv_status read_attributes(const attributes *a, const op *o, clr_kernel *k, clv_error *err)
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
    if (!clr_reduce_op_parse(reduce, &k->offer.reduce))
        return clv_fail(err, CLV_EFORMAT,
                        "node '%s': reduce_op is '%s', expected sum, prod, min, max or avg",
                        k->node, reduce);
    return CLV_OK;
}

static clv_status find_me(clr_kernel *k, clv_error *err)
{
    k->me = -1;
    for (int32_t i = 0; i < k->group.n; i++)
        if (k->group.members[i] == k->owner->member)
            k->me = i;
    return k->me >= 0 ? CLV_OK
                      : clv_fail(err, CLV_EFORMAT, "node '%s': no group of it has device %" PRId32,
                                 k->node, k->owner->member);
}

/* A manifest says each collective of its models; what it says is what the node is. */
static clv_status check_listed(const attributes *a, const clr_kernel *k, const clr_collective *c,
                               int32_t which, clv_error *err)
{
    static const char *const kinds[] = { "all-reduce", "all-gather", "all-to-all", "reduce-scatter",
                                         "broadcast" };
    static const char *const reduces[] = { "sum", "prod", "min", "max", "mean" };
    const offer *o = &k->offer;
    int32_t n = c->starts[which + 1] - c->starts[which];
    bool reducing = o->kind == ALL_REDUCE || o->kind == REDUCE_SCATTER;
    int64_t size = n;

    if (strcmp(c->kind, kinds[o->kind]) != 0)
        return clv_fail(err, CLV_EFORMAT, "the manifest: '%s' is %s, expected %s, as its node is",
                        k->node, c->kind, kinds[o->kind]);
    if (c->reduce && reducing && strcmp(c->reduce, reduces[o->reduce]) != 0)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: '%s' reduces by %s, expected %s, as its node does", k->node,
                        c->reduce, reduces[o->reduce]);
    if (c->axis >= 0 && !reducing && c->axis != o->axis)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: axis of '%s' is %" PRId64 ", expected %" PRId64
                        ", as its node has",
                        k->node, c->axis, o->axis);
    get_int(a, "group_size", &size);
    if (size != n)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: a group of '%s' has %" PRId32 " members, expected %" PRId64
                        ", the group_size of its node",
                        k->node, n, size);
    return CLV_OK;
}

/* The ranks that the node itself has, where it has some. */
static clv_status check_ranks(const attributes *a, const clr_kernel *k, clv_error *err)
{
    size_t n = 0;
    const int64_t *ranks = get_ints(a, "groups", &n);

    for (size_t i = 0; i < n; i++)
        if (n != (size_t)k->group.n || ranks[i] != k->group.members[i])
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: member %zu of a group of '%s' is not %" PRId64
                            ", as the node's groups say",
                            i, k->node, ranks[i]);
    return CLV_OK;
}

static clv_status make_group(const attributes *a, clr_kernel *k, clv_error *err)
{
    const clr_program *p = k->owner->program;
    int32_t which = 0, first = 0, member = k->owner->member;
    int64_t size = p->n_models;
    size_t n = 0;
    const clr_collective *c = clr_program_find_collective(p, k->node, member, &which);

    if (c) {
        k->group =
            (clr_group){ c->members + c->starts[which], c->starts[which + 1] - c->starts[which] };
        if (p->version >= 2) {
            CLV_TRY(check_listed(a, k, c, which, err));
            CLV_TRY(check_ranks(a, k, err));
        }
        return find_me(k, err);
    }
    if (p->version >= 2)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest says not which models exchange by node '%s' of %s", k->node,
                        p->models[member].file);
    get_int(a, "group_size", &size);
    if (size < 1 || size > p->n_models || p->n_models % size != 0)
        return clv_fail(err, CLV_EFORMAT,
                        "node '%s': group_size is %" PRId64 ", but there are %" PRId32 " devices",
                        k->node, size, p->n_models);
    const int64_t *groups = get_ints(a, "groups", &n);
    if (n % (size_t)size != 0)
        return clv_fail(err, CLV_EFORMAT, "node '%s': groups has not group_size devices each",
                        k->node);
    int32_t *members = CLV_NEW_ARRAY(a->arena, int32_t, size);
    k->group = (clr_group){ members, (int32_t)size };
    if (!members)
        return clv_fail_nomem(err, "a group");
    first = member / k->group.n * k->group.n;
    for (size_t i = 0; i < n; i++) {
        if (groups[i] < 0 || groups[i] >= p->n_models)
            return clv_fail(err, CLV_EFORMAT,
                            "node '%s': groups has device %" PRId64 ", but there are %" PRId32,
                            k->node, groups[i], p->n_models);
        if (groups[i] == member)
            first = (int32_t)(i / (size_t)size * (size_t)size);
    }
    for (int32_t i = 0; i < k->group.n; i++)
        members[i] = n ? (int32_t)groups[first + i] : first + i;
    return find_me(k, err);
}

clv_status clr_kernel_new(const clr_participant *owner, int which, const OrtApi *api,
                          const OrtKernelInfo *info, clr_kernel **ret, clv_error *err)
{
    attributes a = { api, info, owner->arena };
    clr_kernel *k = CLV_NEW(owner->arena, clr_kernel);

    if (!k)
        return clv_fail_nomem(err, "a kernel");
    k->owner = owner;
    CLV_TRY(node_name(&a, owner->ort, &k->node, err));
    CLV_TRY(read_attributes(&a, &ops[which], k, err));
    CLV_TRY(make_group(&a, k, err));
    CLV_TRY(clr_rendezvous_barrier(owner->rendezvous, k->node, k->group, sizeof(offer), &k->barrier,
                                   err));
    *ret = k;
    return CLV_OK;
}

const clr_participant *clr_kernel_owner(const clr_kernel *k) { return k->owner; }

/* -- running it -- */

static offer *offer_of(const clr_kernel *k, int32_t i) { return clr_barrier_slot(k->barrier, i); }

static clv_status check_offers(const clr_kernel *k, clv_error *err)
{
    const offer *first = offer_of(k, 0);
    char a[160], b[160];

    for (int32_t i = 1; i < k->group.n; i++) {
        const offer *o = offer_of(k, i);
        if (o->kind != first->kind || o->reduce != first->reduce || o->axis != first->axis ||
            o->root != first->root)
            return clv_fail(err, CLV_EFORMAT,
                            "node '%s': devices %" PRId32 " and %" PRId32
                            " want different collectives",
                            k->node, k->group.members[0], k->group.members[i]);
        bool same = o->shape.dtype == first->shape.dtype && o->shape.rank == first->shape.rank;
        for (int32_t d = 0; same && d < o->shape.rank; d++)
            same =
                o->shape.dims[d] == first->shape.dims[d] || (o->kind == ALL_GATHER && d == o->axis);
        if (!same)
            return clv_fail(err, CLV_EFORMAT,
                            "node '%s': device %" PRId32 " comes with %s, device %" PRId32
                            " with %s, which do not go together",
                            k->node, k->group.members[0],
                            clr_shape_text(a, sizeof a, &first->shape), k->group.members[i],
                            clr_shape_text(b, sizeof b, &o->shape));
    }
    return CLV_OK;
}

static clv_status own_output(const clr_kernel *k, clr_shape *ret, clv_error *err)
{
    const offer *mine = offer_of(k, k->me);
    bool reduces = mine->kind == ALL_REDUCE || mine->kind == REDUCE_SCATTER;
    bool splits = mine->kind == ALL_TO_ALL || mine->kind == REDUCE_SCATTER;
    char text[160];

    *ret = mine->shape;
    if (mine->shape.dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING ||
        clr_dtype_bits((int)mine->shape.dtype) == 0 ||
        (reduces && !clr_reduce_supports((int)mine->shape.dtype)))
        return clv_fail(err, CLV_EUNSUPP, "node '%s': there is no %s of %s", k->node,
                        kind_names[mine->kind], clr_dtype_name((int)mine->shape.dtype));
    if ((splits && (mine->shape.rank == 0 || mine->shape.dims[0] % k->group.n != 0)) ||
        (mine->kind == ALL_GATHER && (mine->axis < 0 || mine->axis >= mine->shape.rank)) ||
        (mine->kind == BROADCAST && (mine->root < 0 || mine->root >= k->group.n)))
        return clv_fail(err, CLV_EFORMAT,
                        "node '%s': there is no %s of %s over %" PRId32 " devices (axis %" PRId64
                        ", root %" PRId64 ")",
                        k->node, kind_names[mine->kind],
                        clr_shape_text(text, sizeof text, &mine->shape), k->group.n, mine->axis,
                        mine->root);
    if (mine->kind == REDUCE_SCATTER)
        ret->dims[0] /= k->group.n;
    for (int32_t i = 0; mine->kind == ALL_GATHER && i < k->group.n; i++)
        if (i != k->me)
            ret->dims[mine->axis] += offer_of(k, i)->shape.dims[mine->axis];
    return clr_shape_count(ret)
               ? CLV_OK
               : clv_fail(err, CLV_ELIMIT, "node '%s': its output is too large", k->node);
}

/* Rows of each device, one behind the other, as often as there are rows before the axis. */
static void all_gather(const clr_kernel *k)
{
    const offer *mine = offer_of(k, k->me);
    int bits = clr_dtype_bits((int)mine->shape.dtype);
    int64_t outer = 1, at = 0;

    for (int32_t d = 0; d < mine->axis; d++)
        outer *= mine->shape.dims[d];
    for (int64_t row = 0; row < outer; row++)
        for (int32_t i = 0; i < k->group.n; i++) {
            const offer *o = offer_of(k, i);
            int64_t n = o->shape.count / outer;
            if (n)
                clv_copy_elems(mine->out, at, o->in, row * n, n, bits);
            at += n;
        }
}

/* Share i of the first dimension goes to the i-th of the group. */
static void all_to_all(const clr_kernel *k)
{
    const offer *mine = offer_of(k, k->me);
    int bits = clr_dtype_bits((int)mine->shape.dtype);
    int64_t n = mine->shape.count / k->group.n;

    for (int32_t i = 0; i < k->group.n && n; i++)
        clv_copy_elems(mine->out, i * n, offer_of(k, i)->in, k->me * n, n, bits);
}

/* all_reduce: each device makes one share of it for all, as reduce-scatter and all-gather do
 * (Rabenseifner 2004); reduce_scatter: its own. */
static clv_status reduce(const clr_kernel *k, clv_error *err)
{
    const offer *mine = offer_of(k, k->me);
    int64_t count = mine->shape.count, first = count / k->group.n * k->me, n = count / k->group.n;
    clv_arena *arena = clv_arena_new(NULL, 0);
    const void **ins = arena ? CLV_NEW_ARRAY(arena, const void *, k->group.n) : NULL;
    void **outs = arena ? CLV_NEW_ARRAY(arena, void *, k->group.n) : NULL;
    bool scatter = mine->kind == REDUCE_SCATTER;

    if (!ins || !outs) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a collective");
    }
    for (int32_t i = 0; i < k->group.n; i++) {
        ins[i] = offer_of(k, i)->in;
        outs[i] = offer_of(k, scatter ? k->me : i)->out;
    }
    if (k->me == k->group.n - 1)
        n = count - first;
    clr_reduce_run(&(clr_reduction){ .op = mine->reduce,
                                     .dtype = (int)mine->shape.dtype,
                                     .ins = ins,
                                     .outs = outs,
                                     .n_ins = k->group.n,
                                     .n_outs = scatter ? 1 : k->group.n,
                                     .first = first,
                                     .n = n,
                                     .shift = scatter ? first : 0 });
    clv_arena_free(arena);
    return CLV_OK;
}

static clv_status compute(const clr_kernel *k, clv_error *err)
{
    const offer *mine = offer_of(k, k->me), *root;

    switch (mine->kind) {
    case ALL_REDUCE:
    case REDUCE_SCATTER:
        return reduce(k, err);
    case ALL_GATHER:
        all_gather(k);
        break;
    case ALL_TO_ALL:
        all_to_all(k);
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

clv_status clr_kernel_run(clr_kernel *k, OrtKernelContext *context, clv_error *err)
{
    const clr_participant *c = k->owner;
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
    CLV_TRY(clr_rendezvous_wait(c->rendezvous, k->barrier, c->member, err));
    CLV_TRY(check_offers(k, err));
    CLV_TRY(own_output(k, &shape, err));
    CLV_TRY(clr_ort_check(
        c->ort, api->KernelContext_GetOutput(context, 0, shape.dims, (size_t)shape.rank, &out),
        k->node, err));
    CLV_TRY(clr_tensor_data(c->ort, out, &mine->out, err));
    if (shape.count > 0 && clr_dtype_bits((int)shape.dtype) < 8) /* bits behind the last element */
        ((uint8_t *)mine->out)[clr_dtype_bytes((int)shape.dtype, shape.count) - 1] = 0;
    CLV_TRY(clr_rendezvous_wait(c->rendezvous, k->barrier, c->member, err)); /* outputs are there */
    CLV_TRY(compute(k, err));
    return clr_rendezvous_wait(c->rendezvous, k->barrier, c->member,
                               err); /* nobody looks at my input any more */
}
