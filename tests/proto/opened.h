/* opened.h - a model of the builder, opened, read and annotated, for tests. */
#ifndef CLV_TESTS_PROTO_OPENED_H
#define CLV_TESTS_PROTO_OPENED_H

#include <criterion/criterion.h>

#include "proto/memory_sink.h"
#include "proto/onnx_annotate.h"
#include "proto/read_annotations.h"
#include "support/onnx_builder.h"

typedef struct {
    uint8_t *bytes;
    size_t n;
    clv_onnx_file *file;
    clv_arena *arena;
    clv_model *model;
    clv_plan *plan; /* nodes on two devices in turn; device d in stage d */
} opened;

/* Takes the bytes, from malloc. */
static inline opened open_bytes(uint8_t *bytes, size_t n)
{
    opened o = { .bytes = bytes, .n = n, .arena = clv_arena_new(NULL, 0) };
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_onnx_open_bytes(bytes, n, NULL, NULL, &o.file, &err), CLV_OK);
    cr_assert_eq(clv_onnx_read(o.file, o.arena, &o.model, &err), CLV_OK, "said: %s", err.message);
    o.plan = plan_in_turn(o.model, 2, o.arena);
    return o;
}

static inline opened open_built(test_onnx *m)
{
    size_t n;
    uint8_t *bytes = onnx_pack(m, &n);
    onnx_free(m);
    return open_bytes(bytes, n);
}

static inline void close_opened(opened *o)
{
    clv_onnx_close(o->file);
    clv_arena_free(o->arena);
    free(o->bytes);
}

static inline void give_notes(opened *o, const clv_plan_annotation *notes, int32_t n)
{
    o->plan->annotations = notes;
    o->plan->n_annotations = n;
}

/* Annotated; and strip gives the same bytes back. */
static inline opened annotated(const opened *o)
{
    memory to = { 0 }, back = { 0 };
    clv_sink sink = memory_sink(&to), back_sink = memory_sink(&back);
    clv_error err = { CLV_OK, "" };
    clv_status s = clv_onnx_annotate(&(clv_onnx_model){ o->file, o->model }, o->plan, true, &sink,
                                     o->arena, &err);
    cr_assert_eq(s, CLV_OK, "said: %s", err.message);
    opened a = open_bytes(to.bytes, to.n);
    cr_assert_eq(clv_onnx_strip(a.file, false, &back_sink, a.arena, &err), CLV_OK);
    cr_assert(back.n == o->n && memcmp(back.bytes, o->bytes, o->n) == 0);
    free(back.bytes);
    return a;
}

static inline clv_annotation_set annotations_of(const opened *o)
{
    clv_annotation_set set;
    clv_error err = { CLV_OK, "" };
    clv_status s = clv_onnx_read_annotations(o->file, o->arena, &set, &err);
    cr_assert_eq(s, CLV_OK, "said: %s", err.message);
    return set;
}

#endif
