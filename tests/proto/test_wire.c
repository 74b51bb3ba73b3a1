#include "proto/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>

static clv_wire over(const uint8_t *bytes, size_t n)
{
    return (clv_wire){ "test", bytes, bytes, bytes + n };
}

/* Field 1 varint 150 is 08 96 01 in protobuf's own documentation; field 2 "testing" is 12 07 ... */
Test(wire, walks_the_examples_of_the_format)
{
    static const uint8_t bytes[] = { 0x08, 0x96, 0x01, 0x12, 0x07, 't', 'e',  's', 't',
                                     'i',  'n',  'g',  0x1d, 0,    0,   0x80, 0x3f };
    clv_wire w = over(bytes, sizeof bytes);
    clv_field f;
    cr_assert_eq(clv_wire_next(&w, &f, NULL), CLV_OK);
    cr_assert(f.number == 1 && f.type == CLV_WIRE_VARINT && f.value == 150 && f.n == 2);
    cr_assert_eq(clv_wire_next(&w, &f, NULL), CLV_OK);
    cr_assert(f.number == 2 && f.n == 7 && f.bytes == bytes + 5 && f.head == bytes + 4);
    cr_assert_eq(clv_wire_next(&w, &f, NULL), CLV_OK);
    cr_assert(f.number == 3 && f.type == CLV_WIRE_FIXED32 && f.value == 0x3f800000); /* 1.0f */
    cr_assert_eq(clv_wire_next(&w, &f, NULL), CLV_OK);
    cr_assert_eq(f.number, 0, "the end");
}

Test(wire, ends_at_once_when_empty)
{
    clv_wire w = over((const uint8_t *)"", 0);
    clv_field f;
    cr_assert_eq(clv_wire_next(&w, &f, NULL), CLV_OK);
    cr_assert_eq(f.number, 0);
}

static void refused(const char *bytes, size_t n, const char *says)
{
    clv_wire w = over((const uint8_t *)bytes, n);
    clv_field f = { .number = 77 };
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_wire_next(&w, &f, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, says), "said: %s", err.message);
    cr_assert_eq(f.number, 77, "a failed call leaves its result alone");
}

Test(wire, refuses_what_is_cut_short_and_says_where)
{
    refused("\x80", 1, "byte 0");            /* a key that goes on */
    refused("\x08\x80", 2, "byte 1");        /* a varint that goes on */
    refused("\x0d\x01\x02", 3, "cut short"); /* half a fixed32 */
    refused("\x12\x05xxxx", 6, "5 bytes long, but 4 are left");
    refused("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "cut short");
}

Test(wire, refuses_groups_and_types_that_do_not_exist)
{
    refused("\x0b\x0c", 2, "wire type 3");
    refused("\x0c", 1, "wire type 4");
    refused("\x0e", 1, "wire type 6");
    refused("\x0f", 1, "wire type 7");
    refused("\x00\x00", 2, "starts no field");                 /* field number 0 */
    refused("\x80\x80\x80\x80\x10\x00", 6, "starts no field"); /* number 2^29 */
}

Test(wire, refuses_numbers_over_64_bits)
{
    refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "longer than 64 bits");
    refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "longer than 64 bits");
}

Test(wire, reads_the_largest_number)
{
    clv_wire w = over((const uint8_t *)"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    clv_field f;
    cr_assert_eq(clv_wire_next(&w, &f, NULL), CLV_OK);
    cr_assert_eq(f.value, UINT64_MAX);
}

Test(wire, counts_packed_numbers)
{
    size_t n = 99;
    clv_wire w = over((const uint8_t *)"\x01\x80\x01\x7f", 4);
    cr_assert_eq(clv_wire_count(&w, CLV_WIRE_VARINT, &n, NULL), CLV_OK);
    cr_assert_eq(n, 3);
    w = over((const uint8_t *)"abcdefgh", 8);
    cr_assert_eq(clv_wire_count(&w, CLV_WIRE_FIXED32, &n, NULL), CLV_OK);
    cr_assert_eq(n, 2);
    w.end--;
    cr_assert_eq(clv_wire_count(&w, CLV_WIRE_FIXED32, &n, NULL), CLV_EFORMAT);
    w = over((const uint8_t *)"\x01\x80", 2);
    cr_assert_eq(clv_wire_count(&w, CLV_WIRE_VARINT, &n, NULL), CLV_EFORMAT);
    cr_assert_eq(n, 2, "a failed call leaves its result alone");
}

Test(wire, encodes_what_it_reads)
{
    const uint64_t values[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (size_t width = clv_varint_size(values[i]); width <= CLV_VARINT_MAX; width++) {
            uint8_t bytes[CLV_VARINT_MAX];
            uint64_t back = ~values[i];
            cr_assert_eq(clv_varint_put_wide(bytes, values[i], width), width);
            clv_wire w = over(bytes, width);
            cr_assert_eq(clv_wire_scalar(&w, CLV_WIRE_VARINT, &back, NULL), CLV_OK);
            cr_assert_eq(back, values[i]);
            cr_assert_eq(w.at, w.end);
        }
    }
}
