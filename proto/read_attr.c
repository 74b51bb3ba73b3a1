#include "proto/read_attr.h"

#include "proto/onnx.pb-c.h"
#include "proto/read_graph.h"
#include "proto/read_tensor.h"
#include "proto/read_type.h"

/* An attribute says its kind, and the field that goes with it has the value. One walk finds the
 * kind and how much there is of each field, a second takes the value. Files older than IR version 2
 * do not say the kind: there it is the field that is present.
 */
enum {
    A_NAME = 1,
    A_F = 2,
    A_I = 3,
    A_S = 4,
    A_T = 5,
    A_G = 6,
    A_FLOATS = 7,
    A_INTS = 8,
    A_STRINGS = 9,
    A_TENSORS = 10,
    A_GRAPHS = 11,
    A_TYPE = 14,
    A_TYPES = 15,
    A_KIND = 20,
    A_REFERENCE = 21,
    A_SPARSE = 22,
    A_SPARSES = 23,
    A_FIELDS = 24
};

/* By AttributeProto.AttributeType. */
static const struct {
    clv_attr_kind kind;
    uint32_t field;
} kinds[] = {
    [1] = { CLV_ATTR_FLOAT, A_F },         [2] = { CLV_ATTR_INT, A_I },
    [3] = { CLV_ATTR_STRING, A_S },        [4] = { CLV_ATTR_TENSOR, A_T },
    [5] = { CLV_ATTR_GRAPH, A_G },         [6] = { CLV_ATTR_FLOATS, A_FLOATS },
    [7] = { CLV_ATTR_INTS, A_INTS },       [8] = { CLV_ATTR_STRINGS, A_STRINGS },
    [9] = { CLV_ATTR_TENSORS, A_TENSORS }, [10] = { CLV_ATTR_GRAPHS, A_GRAPHS },
    [11] = { CLV_ATTR_TENSOR, A_SPARSE },  [12] = { CLV_ATTR_TENSORS, A_SPARSES },
    [13] = { CLV_ATTR_TYPE, A_TYPE },      [14] = { CLV_ATTR_TYPES, A_TYPES },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

typedef struct {
    clv_str name, ref;
    uint64_t type;           /* AttributeProto.AttributeType; 0: not said */
    uint32_t field;          /* that goes with it */
    int64_t n[A_FIELDS];     /* numbers or occurrences of each field */
    clv_field one[A_FIELDS]; /* the last of each single field */
} gathered;

static clv_status gather(clv_message m, gathered *g, clv_error *err)
{
    clv_field f;
    for (;;) {
        size_t n = 1;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        clv_wire run = clv_message_run(&m, &f);
        switch (f.number) {
        case A_NAME:
            CLV_TRY(clv_message_str(&m, &f, &g->name, err));
            continue;
        case A_REFERENCE:
            CLV_TRY(clv_message_str(&m, &f, &g->ref, err));
            continue;
        case A_KIND:
            g->type = f.value;
            continue;
        case A_T:
        case A_G:
        case A_TYPE:
        case A_SPARSE:
            CLV_TRY(clv_message_once(&m, &f, &g->one[f.number], err));
            break;
        case A_FLOATS:
            CLV_TRY(clv_wire_count(&run, CLV_WIRE_FIXED32, &n, err));
            break;
        case A_INTS:
            CLV_TRY(clv_wire_count(&run, CLV_WIRE_VARINT, &n, err));
            break;
        default: /* a number from the file */
            break;
        }
        if (f.number < A_FIELDS) {
            g->one[f.number] = f;
            g->n[f.number] += (int64_t)n;
        }
    }
}

/* What a list of sub-messages is read into. */
typedef struct {
    clv_reading *r;
    uint32_t field;
    int32_t n;
    clv_str *strings;
    clv_const *tensors;
    clv_type *types;
    clv_bodies *bodies;
} listing;

static clv_status add_body(listing *to, const clv_message *graph, clv_error *err)
{
    clv_bodies *b = to->bodies;
    clv_draft *draft;
    if (!b)
        return clv_fail(err, CLV_EUNSUPP,
                        "%s: the attribute at byte %zu has a graph as its default, which is not "
                        "supported",
                        to->r->file->name, clv_message_offset(graph));
    CLV_TRY(clv_read_graph(to->r, graph, false, &draft, err));
    if (!CLV_PUSH_ROOM(to->r->scratch, b->at, b->n, b->cap))
        return clv_fail_nomem(err, "the bodies of an operator");
    b->at[b->n++] = draft;
    return CLV_OK;
}

static clv_status read_list(clv_message m, listing *to, clv_error *err)
{
    clv_field f;
    for (;;) {
        clv_message sub;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != to->field)
            continue;
        switch (f.number) {
        case A_S:
        case A_STRINGS:
            CLV_TRY(clv_message_str(&m, &f, &to->strings[to->n++], err));
            break;
        case A_T:
        case A_TENSORS:
            sub = clv_message_sub(&m, &f, &onnx__tensor_proto__descriptor);
            CLV_TRY(clv_read_tensor(to->r, &sub, &to->tensors[to->n++], err));
            break;
        case A_SPARSE:
        case A_SPARSES:
            sub = clv_message_sub(&m, &f, &onnx__sparse_tensor_proto__descriptor);
            CLV_TRY(clv_read_sparse(to->r, &sub, &to->tensors[to->n++], err));
            break;
        case A_TYPE:
        case A_TYPES:
            sub = clv_message_sub(&m, &f, &onnx__type_proto__descriptor);
            CLV_TRY(clv_read_type(to->r, &sub, (clv_str){ NULL, 0 }, &to->types[to->n++], err));
            break;
        default: /* A_G, A_GRAPHS */
            sub = clv_message_sub(&m, &f, &onnx__graph_proto__descriptor);
            CLV_TRY(add_body(to, &sub, err));
        }
    }
}

/* FLOATS and INTS, from all the pieces they come in. */
static clv_status read_numbers(clv_reading *r, clv_message m, uint32_t field, clv_attr *a,
                               clv_error *err)
{
    clv_field f;
    float *floats = field == A_FLOATS ? CLV_NEW_ARRAY(r->arena, float, a->n) : NULL;
    int64_t *ints = field == A_INTS ? CLV_NEW_ARRAY(r->arena, int64_t, a->n) : NULL;
    if (!floats && !ints)
        return clv_fail_nomem(err, "an attribute's numbers");
    if (floats)
        a->floats = floats;
    else
        a->ints = ints;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        clv_wire run = clv_message_run(&m, &f);
        while (f.number == field && run.at < run.end) {
            uint64_t bits;
            CLV_TRY(clv_wire_scalar(&run, floats ? CLV_WIRE_FIXED32 : CLV_WIRE_VARINT, &bits, err));
            uint32_t low = (uint32_t)bits;
            if (floats)
                memcpy(floats++, &low, sizeof low);
            else
                *ints++ = (int64_t)bits;
        }
    }
}

static clv_status read_messages(clv_reading *r, const clv_message *m, uint32_t field, clv_attr *a,
                                clv_bodies *bodies, clv_error *err)
{
    listing to = { .r = r, .field = field, .bodies = bodies };
    bool fine = true;
    if (a->kind == CLV_ATTR_STRINGS)
        fine = (a->strings = to.strings = CLV_NEW_ARRAY(r->arena, clv_str, a->n)) != NULL;
    else if (a->kind == CLV_ATTR_TENSOR || a->kind == CLV_ATTR_TENSORS)
        fine = (a->tensor = to.tensors = CLV_NEW_ARRAY(r->arena, clv_const, a->n)) != NULL;
    else if (a->kind == CLV_ATTR_TYPE || a->kind == CLV_ATTR_TYPES)
        fine = (a->type = to.types = CLV_NEW_ARRAY(r->arena, clv_type, a->n)) != NULL;
    return fine ? read_list(*m, &to, err) : clv_fail_nomem(err, "an attribute");
}

static clv_status read_value(clv_reading *r, const clv_message *m, const gathered *g, clv_attr *a,
                             clv_bodies *bodies, clv_error *err)
{
    const clv_field *one = &g->one[g->field];
    uint32_t low = (uint32_t)one->value;
    switch (a->kind) {
    case CLV_ATTR_NONE:
        return CLV_OK;
    case CLV_ATTR_FLOAT:
        memcpy(&a->f, &low, sizeof low);
        return CLV_OK;
    case CLV_ATTR_INT:
        a->i = (int64_t)one->value;
        return CLV_OK;
    case CLV_ATTR_STRING:
        return clv_message_str(m, one, &a->s, err);
    case CLV_ATTR_FLOATS:
    case CLV_ATTR_INTS:
        return read_numbers(r, *m, g->field, a, err);
    case CLV_ATTR_TENSOR:
    case CLV_ATTR_GRAPH:
    case CLV_ATTR_TYPE:
        if (!one->number)
            return clv_fail(err, CLV_EFORMAT, "%s: attribute '%.*s' at byte %zu has no value",
                            r->file->name, CLV_STR_ARG(a->name), clv_message_offset(m));
        return read_messages(r, m, g->field, a, bodies, err);
    case CLV_ATTR_STRINGS:
    case CLV_ATTR_TENSORS:
    case CLV_ATTR_GRAPHS:
    case CLV_ATTR_TYPES:
        return read_messages(r, m, g->field, a, bodies, err);
    }
    return CLV_OK;
}

clv_status clv_read_attr(clv_reading *r, const clv_message *attr, clv_attr *ret, clv_bodies *bodies,
                         clv_error *err)
{
    gathered g = { .type = 0 };
    CLV_TRY(gather(*attr, &g, err));
    uint64_t type = g.type;
    for (uint64_t k = 1; type == 0 && g.ref.n == 0 && k < N_KINDS; k++)
        if (g.n[kinds[k].field])
            type = k;
    clv_attr a = { .name = g.name, .ref = g.ref };
    if (type >= N_KINDS)
        return clv_fail(err, CLV_EUNSUPP, "%s: attribute '%.*s' has type %llu, known are 1 to %zu",
                        r->file->name, CLV_STR_ARG(g.name), (unsigned long long)type, N_KINDS - 1);
    a.kind = kinds[type].kind;
    if (a.ref.n == 0) {
        g.field = kinds[type].field;
        int64_t n = a.kind >= CLV_ATTR_FLOATS ? g.n[g.field] : 1;
        if (n > INT32_MAX)
            return clv_fail(err, CLV_ELIMIT,
                            "%s: attribute '%.*s' has %lld values, the limit is %d", r->file->name,
                            CLV_STR_ARG(g.name), (long long)n, INT32_MAX);
        a.n = (int32_t)n;
        CLV_TRY(read_value(r, attr, &g, &a, bodies, err));
    }
    *ret = a;
    return CLV_OK;
}
