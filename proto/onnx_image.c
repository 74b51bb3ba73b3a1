#include "proto/onnx_image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/onnx.pb-c.h"

#define FIRST_PIECE ((size_t)4 << 10) /* read behind a hole, where often the next one follows */
#define LAST_PIECE  ((size_t)1 << 20)
#define HEAD_MAX    20  /* bytes of a field's key and length */
#define NESTING_MAX 200 /* messages in each other; what is deeper is read without looking */

enum { T_FLOAT = 4, T_RAW = 9, T_DOUBLE = 10 };

typedef struct {
    const clv_image_file *file;
    uint8_t *image;
    size_t have; /* all before it is read, or a hole */
    size_t piece;
} filling;

/* Makes sure of the bytes before `end`, and reads a little further. */
static clv_status need(filling *f, size_t end, clv_error *err)
{
    if (f->have >= end)
        return CLV_OK;
    size_t to = f->have + f->piece;
    if (to > f->file->n)
        to = f->file->n;
    if (to < end)
        to = end;
    if (f->piece < LAST_PIECE)
        f->piece *= 2;
    CLV_TRY(clv_image_bytes(f->file, f->have, f->image + f->have, to - f->have, err));
    f->have = to;
    return CLV_OK;
}

static void leave_hole(filling *f, size_t end)
{
    if (f->have >= end)
        return;
    f->have = end;
    f->piece = FIRST_PIECE;
}

static bool is_payload(const ProtobufCMessageDescriptor *type, uint32_t number)
{
    return type == &onnx__tensor_proto__descriptor &&
           (number == T_FLOAT || number == T_RAW || number == T_DOUBLE);
}

static const ProtobufCMessageDescriptor *type_in(const ProtobufCMessageDescriptor *type,
                                                 uint32_t number)
{
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(type, number);
    return f && f->type == PROTOBUF_C_TYPE_MESSAGE ? f->descriptor : NULL;
}

/* A message in [at, end). What is no message is read as it is: the reader says what is wrong. */
static clv_status walk(filling *f, size_t at, size_t end, const ProtobufCMessageDescriptor *type,
                       int depth, clv_error *err)
{
    while (at < end) {
        clv_field field;
        CLV_TRY(need(f, end - at < HEAD_MAX ? end : at + HEAD_MAX, err));
        clv_wire w = { f->file->name, f->image, f->image + at, f->image + end };
        if (clv_wire_next(&w, &field, NULL) != CLV_OK)
            return need(f, end, err);
        size_t from = (size_t)(field.bytes - f->image);
        at = (size_t)(w.at - f->image);
        const ProtobufCMessageDescriptor *sub = type_in(type, field.number);
        if (field.type != CLV_WIRE_BYTES || field.n <= CLV_IMAGE_LIMIT)
            CLV_TRY(need(f, at, err));
        else if (is_payload(type, field.number))
            leave_hole(f, at);
        else if (sub && depth < NESTING_MAX)
            CLV_TRY(walk(f, from, at, sub, depth + 1, err));
        else
            CLV_TRY(need(f, at, err));
    }
    return CLV_OK;
}

clv_status clv_image_bytes(const clv_image_file *file, uint64_t offset, void *to, size_t n,
                           clv_error *err)
{
    uint8_t *at = to;
    while (n) {
        ssize_t got = pread(file->fd, at, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return clv_fail(err, CLV_EIO, "cannot read %s: %s", file->name, strerror(errno));
        if (got == 0)
            return clv_fail(err, CLV_EIO,
                            "%s became shorter while it was read: it ends at byte %llu, expected "
                            "%zu bytes",
                            file->name, (unsigned long long)offset, file->n);
        at += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return CLV_OK;
}

clv_status clv_image_read(const clv_image_file *file, bool is_model, const uint8_t **ret,
                          clv_error *err)
{
    /* Not reserved: of a model with weights inside most of it stays a hole. */
    void *p = mmap(NULL, file->n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *ret = NULL;
    if (p == MAP_FAILED)
        return clv_fail(err, CLV_ENOMEM, "out of memory: no room for the %zu bytes of %s", file->n,
                        file->name);
    *ret = p;
    (void)madvise(p, file->n, MADV_NOHUGEPAGE); /* large pages would fill the holes */
    filling f = { file, p, 0, FIRST_PIECE };
    return is_model ? walk(&f, 0, file->n, &onnx__model_proto__descriptor, 0, err)
                    : need(&f, file->n, err);
}
