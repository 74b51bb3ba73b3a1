#include "proto/onnx.pb-c.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/opened.h"

/* A model of nearly 2 GiB, of which all but the first page is a hole of a sparse file: the text of
 * a field that says how long it is. The sink counts, so nothing of it is ever held.
 */
#define LIMIT ((size_t)INT32_MAX)

typedef struct {
    uint8_t *map;
    size_t n;
    opened o; /* but for the bytes */
} big;

static size_t put_length(uint8_t *out, size_t length)
{
    size_t n = 0;
    for (; length >= 0x80; length >>= 7)
        out[n++] = (uint8_t)(length | 0x80);
    out[n++] = (uint8_t)length;
    return n;
}

/* A model of exactly n bytes: a small one whose last field, doc_string, takes the rest. */
static big big_model(size_t n)
{
    big b = { .n = n };
    test_onnx *m = onnx_new(11, 17);
    onnx_input(onnx_main(m), "x", 1, "1");
    onnx_node(onnx_main(m), "Relu", "", "x", "y");
    onnx_output(onnx_main(m), "y", 1, "1");
    size_t small;
    uint8_t *bytes = onnx_pack(m, &small);
    onnx_free(m);
    char path[] = "/tmp/clv_big_XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && unlink(path) == 0 && ftruncate(fd, (off_t)n) == 0);
    b.map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(b.map, MAP_FAILED);
    close(fd);
    memcpy(b.map, bytes, small);
    free(bytes);
    b.map[small] = 6 << 3 | 2; /* doc_string */
    cr_assert_eq(put_length(b.map + small + 1, n - small - 6), 5);
    b.o.arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_onnx_open_bytes(b.map, n, NULL, NULL, &b.o.file, NULL), CLV_OK);
    cr_assert_eq(clv_onnx_read(b.o.file, b.o.arena, &b.o.model, NULL), CLV_OK);
    b.o.plan = plan_in_turn(b.o.model, 2, b.o.arena);
    return b;
}

static void close_big(big *b)
{
    clv_onnx_close(b->o.file);
    clv_arena_free(b->o.arena);
    munmap(b->map, b->n);
}

static clv_status count_write(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    (void)bytes, (void)err;
    *(size_t *)ctx += n;
    return CLV_OK;
}

static clv_status count_range(void *ctx, const clv_onnx_file *file, uint64_t at, uint64_t n,
                              clv_error *err)
{
    (void)file, (void)at, (void)err;
    *(size_t *)ctx += n;
    return CLV_OK;
}

static clv_status annotate(const big *b, size_t *ret_n, clv_error *err)
{
    *ret_n = 0;
    clv_sink sink = { count_write, count_range, ret_n };
    return clv_onnx_annotate(&(clv_onnx_model){ b->o.file, b->o.model }, b->o.plan, true, &sink,
                             b->o.arena, err);
}

Test(size_limit, is_what_protobuf_parsers_read, .timeout = 60)
{
    size_t written;
    clv_error err = { CLV_OK, "" };
    big b = big_model(LIMIT - 1000); /* room enough for the annotations, which shows their size */
    cr_assert_eq(annotate(&b, &written, &err), CLV_OK, "said: %s", err.message);
    size_t added = written - b.n;
    cr_assert(added > 20 && added < 1000);
    close_big(&b);

    b = big_model(LIMIT - added);
    cr_assert_eq(annotate(&b, &written, &err), CLV_OK, "said: %s", err.message);
    cr_assert_eq(written, LIMIT);
    close_big(&b);

    b = big_model(LIMIT - added + 1);
    cr_assert_eq(annotate(&b, &written, &err), CLV_ELIMIT);
    cr_assert(strstr(err.message, "would have 2147483648 bytes"), "said: %s", err.message);
    cr_assert(strstr(err.message, "external data"), "said: %s", err.message);
    cr_assert_eq(written, 0, "nothing is written");
    close_big(&b);

    b = big_model(LIMIT + 1); /* was beyond it before */
    cr_assert_eq(annotate(&b, &written, &err), CLV_OK, "said: %s", err.message);
    cr_assert_gt(written, LIMIT);
    close_big(&b);
}
