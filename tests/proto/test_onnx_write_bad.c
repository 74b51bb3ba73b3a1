/* test_onnx_write_bad.c - what cannot be written, sinks that fail, sizes, and damaged sources. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/everything.h"
#include "proto/wire.h"
#include "proto/written.h"
#include "support/damaged.h"

Test(onnx_write, what_cannot_be_written_is_refused_in_words)
{
    source s = source_of(small_model(), "");
    clv_new_tensor t = { .name = text("t"), .weight = 9 };
    const clv_new_tensor *kept = s.m->tensors;
    s.m->tensors = &t;
    s.m->n_tensors = 1;
    refused(&s, CLV_EUSAGE, "weight 9");
    t = (clv_new_tensor){ .name = text("t"), .dtype = CLV_DT_FLOAT, .n_bytes = 3, .weight = -1 };
    refused(&s, CLV_EUSAGE, "3 bytes");
    t.n_bytes = 4;
    refused(&s, CLV_EUSAGE, "neither bytes");
    t.dtype = CLV_DT_STRING;
    refused(&s, CLV_EUSAGE, "STRING");
    s.m->tensors = kept;
    s.nodes[1].source.i = 2;
    refused(&s, CLV_EUSAGE, "node 2 of 2");
    s.nodes[1].source = CLV_NO_OP;
    refused(&s, CLV_EUSAGE, "no operator type");
    done(&s, NULL);
}

Test(onnx_write, a_model_of_another_file_is_refused)
{
    source s = source_of(small_model(), "");
    opened other = open_built(everything());
    s.m->source = other.file;
    refused(&s, CLV_EUSAGE, "as the model");
    close_opened(&other);
    done(&s, NULL);
}

Test(onnx_write, a_sink_that_fails_ends_the_writing)
{
    source s = source_of(everything(), "_z");
    for (size_t at = 1; at < 40; at += 13) {
        memory to = { .fail_at = at };
        clv_sink sink = memory_sink(&to);
        clv_error err = { CLV_OK, "" };
        cr_assert_eq(clv_onnx_write(s.m, &sink, s.o.arena, &err), CLV_EIO);
        cr_assert_str_eq(err.message, "the sink is full");
        cr_assert_eq(to.calls, 1);
        free(to.bytes);
    }
    done(&s, NULL);
}

static clv_status count_only(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    (void)bytes;
    (void)err;
    *(uint64_t *)ctx += n;
    return CLV_OK;
}

static clv_status count_range(void *ctx, const clv_onnx_file *file, uint64_t offset, uint64_t n,
                              clv_error *err)
{
    (void)file;
    (void)offset;
    return count_only(ctx, NULL, (size_t)n, err);
}

/* A model with one weight "w" of 512 MiB, a hole of a sparse file. */
static uint8_t *model_with_hole(size_t *ret_n)
{
    static const uint8_t head[] = { 8,  128, 128, 128, 128, 2, /* dims: 2^29 */
                                    16, 3,                     /* INT8 */
                                    66, 1,   'w', 74,  128, 128, 128, 128, 2 /* name, raw_data */ };
    uint8_t outer[32] = { 8, 8, 66, 2, 16, 17 }; /* IR version, operator set */
    size_t inner = sizeof head + ((size_t)512 << 20), i = 6;
    outer[i++] = 58; /* graph */
    i += clv_varint_put(outer + i, inner + 1 + clv_varint_size(inner));
    outer[i++] = 42; /* initializer */
    i += clv_varint_put(outer + i, inner);
    *ret_n = i + inner;
    char path[] = "/tmp/clv_hole_XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && unlink(path) == 0 && ftruncate(fd, (off_t)*ret_n) == 0);
    uint8_t *map = mmap(NULL, *ret_n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(map, MAP_FAILED);
    close(fd);
    memcpy(map, outer, i);
    memcpy(map + i, head, sizeof head);
    return map;
}

Test(onnx_write, over_2_gib_nothing_is_written)
{
    clv_new_tensor copies[4] = {
        { .name = text("a") }, { .name = text("b") }, { .name = text("c") }, { .name = text("d") }
    };
    size_t n;
    uint8_t *map = model_with_hole(&n);
    source s = { .o = { .bytes = NULL, .arena = clv_arena_new(NULL, 0) } };
    cr_assert_eq(clv_onnx_open_bytes(map, n, NULL, NULL, &s.o.file, NULL), CLV_OK);
    cr_assert_eq(clv_onnx_read(s.o.file, s.o.arena, &s.o.model, NULL), CLV_OK);
    s.m = test_copied(s.o.file, s.o.model, "", s.o.arena);
    s.m->tensors = copies;
    s.m->n_tensors = 4;
    refused(&s, CLV_ELIMIT, "external data");
    s.m->n_tensors = 3;
    uint64_t counted = 0;
    clv_sink sink = { count_only, count_range, &counted };
    cr_assert_eq(clv_onnx_write(s.m, &sink, s.o.arena, NULL), CLV_OK);
    cr_assert_gt(counted, UINT64_C(3) << 29);
    cr_assert_lt(clv_arena_peak(s.o.arena), (size_t)1 << 20, "weights are not in memory");
    done(&s, NULL);
    munmap(map, n);
}

static void write_again(const clv_onnx_file *file, const clv_model *model, clv_arena *arena)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_error err = { CLV_OK, "" };
    clv_new_model *copy = test_copied(file, model, "_z", arena);
    clv_status s = clv_onnx_write(copy, &sink, arena, &err);
    cr_assert(s == CLV_OK || (to.calls == 0 && err.message[0]));
    free(to.bytes);
}

/* Whatever can still be read is written again, or refused. */
Test(onnx_write, damaged_models_do_no_harm) { test_damage_each_byte(everything(), write_again); }
