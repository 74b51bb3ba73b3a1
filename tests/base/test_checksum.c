/* test_checksum.c - XXH3 of 128 bits: published values, and the same however the bytes come. */
#include "base/checksum.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static clv_checksum sum_of(clv_arena *arena, const void *bytes, size_t n, size_t step)
{
    clv_checksum_state *s = clv_checksum_new(arena);
    for (size_t at = 0; at < n; at += step)
        clv_checksum_add(s, (const char *)bytes + at, n - at < step ? n - at : step);
    return clv_checksum_end(s);
}

/* What xxHash's own documentation and tests give for no bytes. */
Test(checksum, of_nothing_is_the_published_one)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    char text[CLV_CHECKSUM_TEXT];
    cr_assert_str_eq(clv_checksum_text(text, sum_of(arena, "", 0, 1)),
                     "99aa06d3014798d86001c324468d497f");
    clv_arena_free(arena);
}

Test(checksum, is_the_same_however_bytes_come)
{
    static char bytes[100000];
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_checksum whole, zeros, file;
    char path[] = "/tmp/clv-sum-XXXXXX";
    int64_t n = 0;
    int fd = mkstemp(path);

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    whole = sum_of(arena, bytes, sizeof bytes, sizeof bytes);
    for (size_t step = 1; step < 5000; step = step * 3 + 1)
        cr_assert(clv_checksum_eq(whole, sum_of(arena, bytes, sizeof bytes, step)));
    cr_assert_eq(write(fd, bytes, sizeof bytes), (ssize_t)sizeof bytes);
    close(fd);
    cr_assert_eq(clv_checksum_file(path, arena, &file, &n, NULL), CLV_OK);
    cr_assert(clv_checksum_eq(whole, file) && n == (int64_t)sizeof bytes);
    unlink(path);
    cr_assert_eq(clv_checksum_file(path, arena, &file, &n, NULL), CLV_EIO);
    bytes[50000] ^= 1;
    cr_assert_not(clv_checksum_eq(whole, sum_of(arena, bytes, sizeof bytes, 999)));

    memset(bytes, 0, sizeof bytes);
    clv_checksum_state *s = clv_checksum_new(arena);
    clv_checksum_add_zeros(s, sizeof bytes);
    zeros = clv_checksum_end(s);
    cr_assert(clv_checksum_eq(zeros, sum_of(arena, bytes, sizeof bytes, 77)));
    clv_arena_free(arena);
}

Test(checksum, text_reads_back)
{
    clv_checksum sum = { UINT64_C(0x0123456789abcdef), 5 }, back = { 0, 0 };
    char text[CLV_CHECKSUM_TEXT];
    cr_assert_str_eq(clv_checksum_text(text, sum), "0123456789abcdef0000000000000005");
    cr_assert(clv_checksum_parse(text, &back) && clv_checksum_eq(sum, back));
    cr_assert_not(clv_checksum_parse("0123", &back));
    text[3] = 'g';
    cr_assert_not(clv_checksum_parse(text, &back));
    cr_assert_not(clv_checksum_parse("0123456789abcdef00000000000000055", &back));
}
