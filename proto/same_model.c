#include "proto/same_model.h"

#include <stdlib.h>
#include <string.h>

#include "proto/message.h"
#include "proto/onnx.pb-c.h"
#include "proto/onnx_image.h"

#define PIECE ((size_t)256 << 10) /* of each model, compared at a time */

typedef struct {
    const clv_onnx_file *a, *b;
    uint8_t *buffer; /* two pieces */
    clv_arena *arena;
    const char *difference;
    int32_t depth;
} comparison;

typedef struct {
    clv_field *at;
    int32_t n, cap;
} fields;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "comparing two models"); }

/* Fields that say nothing of what is computed. */
static bool is_beside(const ProtobufCMessageDescriptor *type, uint32_t number)
{
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(type, number);
    static const char *const names[] = { "ir_version",       "producer_name",
                                         "producer_version", "model_version",
                                         "doc_string",       "metadata_props",
                                         "configuration",    "device_configurations" };
    for (size_t i = 0; f && i < sizeof names / sizeof *names; i++)
        if (strcmp(f->name, names[i]) == 0)
            return true;
    return false;
}

/* Messages that may have annotations in them, or documentation. */
static const ProtobufCMessageDescriptor *sub_type(const ProtobufCMessageDescriptor *type,
                                                  uint32_t number)
{
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(type, number);
    return f && f->type == PROTOBUF_C_TYPE_MESSAGE ? f->descriptor : NULL;
}

/* Those of one number in the order of the file. */
static int by_number(const void *a, const void *b)
{
    const clv_field *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static clv_status read_fields(comparison *c, clv_message m, fields *ret, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (f.number == 0)
            break;
        if (is_beside(m.type, f.number))
            continue;
        if (!CLV_PUSH_ROOM(c->arena, ret->at, ret->n, ret->cap))
            return no_memory(err);
        ret->at[ret->n++] = f;
    }
    if (ret->n > 1)
        qsort(ret->at, (size_t)ret->n, sizeof *ret->at, by_number);
    return CLV_OK;
}

static clv_str name_in(const clv_message *m, const fields *f)
{
    for (int32_t i = 0; i < f->n; i++) {
        const ProtobufCFieldDescriptor *d =
            protobuf_c_message_descriptor_get_field(m->type, f->at[i].number);
        if (d && strcmp(d->name, "name") == 0 && f->at[i].n < 200)
            return (clv_str){ (const char *)f->at[i].bytes, (int32_t)f->at[i].n };
    }
    return clv_str_of("");
}

/* Two messages of one type, their fields in one order. */
typedef struct {
    const clv_message *a, *b;
    fields x, y;
} pair;

/* "NodeProto 'mul' has another attribute" */
static clv_status set_difference(comparison *c, const pair *p, uint32_t number, const char *how,
                                 clv_error *err)
{
    const ProtobufCMessageDescriptor *type = p->a->type;
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(type, number);
    c->difference = clv_arena_printf(c->arena, "%s '%.*s' has %s %s", type->short_name,
                                     CLV_STR_ARG(name_in(p->a, &p->x)), how,
                                     f ? f->name : "field of no known kind");
    return c->difference ? CLV_OK : no_memory(err);
}

/* Long ones as the files have them: in their memory there may be holes. */
static clv_status compare_bytes(comparison *c, const uint8_t *x, const uint8_t *y, size_t n,
                                bool *ret, clv_error *err)
{
    if (n <= CLV_IMAGE_LIMIT) {
        *ret = memcmp(x, y, n) == 0;
        return CLV_OK;
    }
    uint64_t at_x = (uint64_t)(x - c->a->bytes), at_y = (uint64_t)(y - c->b->bytes);
    *ret = true;
    for (size_t done = 0, part; done < n && *ret; done += part) {
        part = n - done < PIECE ? n - done : PIECE;
        CLV_TRY(clv_onnx_read_bytes(c->a, at_x + done, c->buffer, part, err));
        CLV_TRY(clv_onnx_read_bytes(c->b, at_y + done, c->buffer + PIECE, part, err));
        *ret = memcmp(c->buffer, c->buffer + PIECE, part) == 0;
    }
    return CLV_OK;
}

static clv_status compare(comparison *c, const clv_message *a, const clv_message *b,
                          clv_error *err);

static clv_status compare_field(comparison *c, const pair *p, int32_t i, clv_error *err)
{
    const clv_field *x = &p->x.at[i], *y = &p->y.at[i];
    const ProtobufCMessageDescriptor *sub = sub_type(p->a->type, x->number);
    bool is_text = x->type == CLV_WIRE_BYTES && y->type == CLV_WIRE_BYTES, same = false;
    if (x->type == y->type && x->n == y->n) {
        same = x->value == y->value;
        if (is_text)
            CLV_TRY(compare_bytes(c, x->bytes, y->bytes, x->n, &same, err));
    }
    if (same)
        return CLV_OK;
    if (!sub || !is_text)
        return set_difference(c, p, x->number, "another", err);
    clv_message in_a = clv_message_sub(p->a, x, sub), in_b = clv_message_sub(p->b, y, sub);
    return compare(c, &in_a, &in_b, err);
}

static clv_status compare(comparison *c, const clv_message *a, const clv_message *b, clv_error *err)
{
    pair p = { .a = a, .b = b };
    if (++c->depth > 4 * CLV_NESTING_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s: messages are nested more than %d deep", a->wire.name,
                        4 * CLV_NESTING_MAX);
    CLV_TRY(read_fields(c, *a, &p.x, err));
    CLV_TRY(read_fields(c, *b, &p.y, err));
    for (int32_t i = 0; (i < p.x.n || i < p.y.n) && !c->difference; i++) {
        uint32_t x = i < p.x.n ? p.x.at[i].number : UINT32_MAX;
        uint32_t y = i < p.y.n ? p.y.at[i].number : UINT32_MAX;
        if (x == y)
            CLV_TRY(compare_field(c, &p, i, err));
        else
            CLV_TRY(set_difference(c, &p, x < y ? x : y, x < y ? "one less" : "one more", err));
    }
    c->depth--;
    return CLV_OK;
}

clv_status clv_onnx_same_model(const clv_onnx_file *a, const clv_onnx_file *b, clv_arena *arena,
                               const char **ret, clv_error *err)
{
    comparison c = { .a = a, .b = b, .arena = clv_arena_new(clv_arena_alloc(arena), 0) };
    c.buffer = c.arena ? clv_arena_take(c.arena, 2 * PIECE) : NULL;
    if (!c.buffer) {
        clv_arena_free(c.arena);
        return no_memory(err);
    }
    clv_wire x = clv_onnx_wire(a), y = clv_onnx_wire(b);
    clv_message in_a =
        clv_message_in(&x, &onnx__model_proto__descriptor, x.at, (size_t)(x.end - x.at));
    clv_message in_b =
        clv_message_in(&y, &onnx__model_proto__descriptor, y.at, (size_t)(y.end - y.at));
    clv_status status = compare(&c, &in_a, &in_b, err);
    *ret = NULL;
    if (status == CLV_OK && c.difference && !(*ret = clv_arena_printf(arena, "%s", c.difference)))
        status = no_memory(err);
    clv_arena_free(c.arena);
    return status;
}
