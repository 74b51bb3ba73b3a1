/* test_tensor_file.c - tensors in files of their own: what is read, and what is refused. */
#include "proto/tensor_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/run.h"

static char *folder;
static clv_arena *arena;
static clv_tensor_file value;
static clv_error err;

static void set_up(void)
{
    folder = folder_new();
    arena = clv_arena_new(NULL, 0);
}

static void tear_down(void)
{
    clv_arena_free(arena);
    folder_free(folder);
}

TestSuite(value_file, .init = set_up, .fini = tear_down);

static clv_status read_bytes(const char *bytes, size_t n)
{
    char path[600];
    snprintf(path, sizeof path, "%s/v.pb", folder);
    file_write(folder, "v.pb", bytes, n);
    return clv_tensor_file_open(path, arena, &value, &err);
}

#define READ(text) read_bytes(text, sizeof text - 1)

static void refused(clv_status status, clv_status want, const char *words)
{
    cr_expect_eq(status, want, "%s", err.message);
    cr_expect(strstr(err.message, words), "said: %s", err.message);
}

Test(value_file, reads_a_tensor_of_numbers)
{
    /* dims 2, 3 packed; INT16; name "ab"; raw */
    cr_assert_eq(READ("\x0a\x02\x02\x03\x10\x05\x42\x02"
                      "ab\x4a\x0c\x01\0\x02\0\x03\0\x04\0\x05\0\x06\0"),
                 CLV_OK, "%s", err.message);
    cr_expect_eq(value.dtype, CLV_DT_INT16);
    cr_expect_eq(value.rank, 2);
    cr_expect_eq(value.dims[0], 2);
    cr_expect_eq(value.dims[1], 3);
    cr_expect_eq(value.elems, 6);
    cr_expect(clv_str_is(value.name, "ab"));
    cr_expect_eq(memcmp(value.data, "\x01\0\x02\0\x03\0\x04\0\x05\0\x06", 12), 0);
    clv_tensor_file_close(&value);
}

Test(value_file, reads_texts_scalars_and_nothing)
{
    cr_assert_eq(READ("\x08\x02\x10\x08\x32\x01x\x32\x02yz"), CLV_OK, "%s", err.message);
    cr_expect_eq(value.elems, 2);
    cr_expect(clv_str_is(value.strings[1], "yz"));
    clv_tensor_file_close(&value);
    cr_assert_eq(READ("\x10\x02\x4a\x01\x07"), CLV_OK, "a scalar: %s", err.message);
    cr_expect_eq(value.elems, 1);
    clv_tensor_file_close(&value);
    cr_assert_eq(READ("\x08\x00\x10\x01"), CLV_OK, "no elements: %s", err.message);
    cr_expect_eq(value.elems, 0);
    clv_tensor_file_close(&value);
}

Test(value_file, refuses_what_is_no_tensor)
{
    refused(READ("\x08\x02\x10\x02\x4a\x01\x07"), CLV_EFORMAT, "has 1 bytes, expected 2");
    refused(READ("\x08\x02\x10\x02"), CLV_EUNSUPP, "not in raw_data");
    refused(READ("\x08\x02\x10\x63"), CLV_EFORMAT, "an unknown type");
    refused(READ("\x08\x02"), CLV_EFORMAT, "an unknown type");
    refused(READ("\x08\x03\x10\x08\x32\x01x"), CLV_EFORMAT, "not as many texts");
    refused(READ("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x02"), CLV_EFORMAT, "below 0");
    refused(READ("\x0a\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                 "\x10\x02"),
            CLV_EFORMAT, "more elements than 64 bits");
    refused(READ("\x4a\x40zz"), CLV_EFORMAT, "v.pb");
    refused(clv_tensor_file_open("/nowhere/at/all.pb", arena, &value, &err), CLV_EIO, "/nowhere");
}
