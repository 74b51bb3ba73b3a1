/* test_slice.c - boxes out of tensors and back, held against going through every index. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "run/element.h"
#include "run/slice.h"

static clr_ort ort;

static void set_up(void)
{
    clv_error err;

    cr_assert_eq(clr_ort_open(&ort, &err), CLV_OK, "%s", err.message);
}

static void tear_down(void) { clr_ort_close(&ort); }

TestSuite(slice, .init = set_up, .fini = tear_down);

/* 0, 1, 2, ... as int32. */
static OrtValue *counting(const clr_shape *shape)
{
    OrtValue *value = NULL;
    void *data = NULL;

    cr_assert_eq(clr_tensor_new(&ort, shape, &value, NULL), CLV_OK);
    if (shape->count)
        cr_assert_eq(clr_tensor_data(&ort, value, &data, NULL), CLV_OK);
    for (int64_t i = 0; i < shape->count; i++)
        ((int32_t *)data)[i] = (int32_t)i;
    return value;
}

static clr_shape shape_of(int32_t rank, const int64_t *dims)
{
    clr_shape shape = { .dtype = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, .rank = rank };

    memcpy(shape.dims, dims, (size_t)rank * sizeof *dims);
    cr_assert(clr_shape_count(&shape));
    return shape;
}

/* Element k of the part, by its index in the view. */
static int64_t place_of(int32_t rank, const int64_t *view, const clr_slice *part, int64_t k)
{
    int64_t at = 0, step = 1;

    for (int32_t d = rank; d-- > 0;) {
        at += (k % part->dims[d] + part->offsets[d]) * step;
        k /= part->dims[d];
        step *= view[d];
    }
    return at;
}

static void check_cut(const clr_shape *whole, const int64_t *view, const clr_slice *part)
{
    OrtValue *value = counting(whole), *cut = NULL;
    clr_shape shape;
    void *data = NULL;
    clv_error err;

    cr_assert_eq(clr_slice_extract(&ort, value, part, "x", &cut, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clr_tensor_shape(&ort, cut, &shape, NULL), CLV_OK);
    cr_assert_eq(shape.rank, whole->rank);
    if (shape.count)
        cr_assert_eq(clr_tensor_data(&ort, cut, &data, NULL), CLV_OK);
    for (int64_t k = 0; k < shape.count; k++)
        cr_assert_eq(((int32_t *)data)[k], place_of(part->rank, view, part, k));
    clr_value_free(&ort, value);
    clr_value_free(&ort, cut);
}

Test(slice, every_box_of_a_tensor_is_cut)
{
    const int64_t dims[] = { 3, 4, 2 };
    clr_shape whole = shape_of(3, dims);

    for (int64_t a = 0; a < 3; a++)
        for (int64_t b = 0; b < 4; b++)
            for (int64_t c = 0; c < 2; c++)
                for (int64_t n = 0; n < (3 - a) * (4 - b) * (2 - c); n++) {
                    const int64_t offsets[] = { a, b, c };
                    const int64_t size[] = { 1 + n % (3 - a), 1 + n / (3 - a) % (4 - b),
                                             1 + n / (3 - a) / (4 - b) };
                    clr_slice part = { .rank = 3, .offsets = offsets, .dims = size };
                    check_cut(&whole, dims, &part);
                }
}

Test(slice, a_dimension_that_was_taken_apart_is_merged_again)
{
    const int64_t dims[] = { 6, 8 }, view[] = { 2, 3, 8 }, offsets[] = { 0, 1, 2 };
    const int64_t size[] = { 2, 2, 3 };
    clr_shape whole = shape_of(2, dims), own;
    clr_slice part = { .rank = 3, .offsets = offsets, .dims = size, .view_rank = 3, .view = view };

    check_cut(&whole, view, &part);
    cr_assert_eq(clr_slice_shape(&part, &whole, "x", &own, NULL), CLV_OK);
    cr_expect_eq(own.dims[0], 4);
    cr_expect_eq(own.dims[1], 3);
}

Test(slice, ones_of_a_view_go_to_either_side)
{
    const int64_t dims[] = { 1, 6, 1 }, view[] = { 1, 1, 2, 3, 1, 1 };
    const int64_t offsets[] = { 0, 0, 1, 0, 0, 0 }, size[] = { 1, 1, 1, 3, 1, 1 };
    clr_shape whole = shape_of(3, dims);
    clr_slice part = { .rank = 6, .offsets = offsets, .dims = size, .view_rank = 6, .view = view };

    check_cut(&whole, view, &part);
}

Test(slice, an_empty_part_is_a_tensor_too)
{
    const int64_t dims[] = { 3, 2 }, offsets[] = { 3, 0 }, size[] = { 0, 2 };
    clr_shape whole = shape_of(2, dims);
    clr_slice part = { .rank = 2, .offsets = offsets, .dims = size };

    check_cut(&whole, dims, &part);
}

Test(slice, a_view_may_have_no_elements)
{
    const int64_t dims[] = { 1, 8, 0 }, view[] = { 1, 2, 4, 0 }, offsets[] = { 0, 0, 2, 0 };
    const int64_t size[] = { 1, 2, 2, 0 };
    clr_shape whole = shape_of(3, dims), own;
    clr_slice part = { .rank = 4, .offsets = offsets, .dims = size, .view_rank = 4, .view = view };

    cr_assert_eq(clr_slice_shape(&part, &whole, "x", &own, NULL), CLV_OK);
    cr_expect_eq(own.dims[1], 4);
    cr_expect_eq(own.dims[2], 0);
}

static void refused(const clr_slice *part, const char *words)
{
    const int64_t dims[] = { 4, 2 };
    clr_shape whole = shape_of(2, dims);
    OrtValue *value = counting(&whole), *cut = NULL;
    clv_error err = { 0 };

    cr_expect_eq(clr_slice_extract(&ort, value, part, "x", &cut, &err), CLV_EFORMAT);
    cr_expect_null(cut);
    cr_expect(strstr(err.message, words), "%s", err.message);
    clr_value_free(&ort, value);
}

Test(slice, what_lies_outside_is_refused)
{
    const int64_t zero[] = { 0, 0, 0 }, far[] = { 5, 0 }, size[] = { 4, 3 }, ones[] = { 1, 1, 1 };
    const int64_t view[] = { 3, 3 };

    refused(&(clr_slice){ .rank = 2, .offsets = zero, .dims = size }, "lies not within int32[4,2]");
    refused(&(clr_slice){ .rank = 2, .offsets = far, .dims = ones }, "lies not within");
    refused(&(clr_slice){ .rank = 3, .offsets = zero, .dims = ones }, "has 3 dimensions");
    refused(&(clr_slice){ .rank = 2, .offsets = zero, .dims = ones, .view_rank = 2, .view = view },
            "has a view that is not of");
}

/* -- joining -- */

/* Halves of the first dimension, cut and joined. */
static clv_status join(const int64_t *offsets_b, const int64_t *size_b, bool *ret_same,
                       clv_error *err)
{
    const int64_t dims[] = { 4, 3 }, zero[] = { 0, 0 }, size[] = { 2, 3 };
    clr_shape whole = shape_of(2, dims);
    clr_slice a = { .rank = 2, .offsets = zero, .dims = size };
    clr_slice b = { .rank = 2, .offsets = offsets_b, .dims = size_b };
    OrtValue *value = counting(&whole), *values[2] = { NULL, NULL }, *joined = NULL;
    void *was = NULL, *is = NULL;

    cr_assert_eq(clr_slice_extract(&ort, value, &a, "x", &values[0], NULL), CLV_OK);
    cr_assert_eq(clr_slice_extract(&ort, value, &b, "x", &values[1], NULL), CLV_OK);
    const clr_sliced_value pieces[] = { { &a, values[0] }, { &b, values[1] } };
    clr_assembly assembly = { "x", whole, pieces, 2 };
    clv_status status = clr_slices_assemble(&ort, &assembly, &joined, err);
    if (status == CLV_OK) {
        cr_assert_eq(clr_tensor_data(&ort, value, &was, NULL), CLV_OK);
        cr_assert_eq(clr_tensor_data(&ort, joined, &is, NULL), CLV_OK);
        *ret_same = memcmp(was, is, 12 * sizeof(int32_t)) == 0;
    }
    clr_value_free(&ort, value);
    clr_value_free(&ort, values[0]);
    clr_value_free(&ort, values[1]);
    clr_value_free(&ort, joined);
    return status;
}

Test(slice, joined_parts_are_the_whole)
{
    const int64_t offsets[] = { 2, 0 }, size[] = { 2, 3 };
    bool same = false;
    clv_error err;

    cr_assert_eq(join(offsets, size, &same, &err), CLV_OK, "%s", err.message);
    cr_expect(same);
}

/* Elements of less than a byte: parts begin and end within a byte. */
Test(slice, packed_parts_are_cut_and_joined)
{
    enum { ROWS = 3, COLUMNS = 5 };
    static const int64_t dims[] = { ROWS, COLUMNS };
    for (int dtype = 21; dtype <= 26; dtype++) { /* uint4 to int2 */
        clr_shape shape = shape_of(2, dims);
        shape.dtype = (ONNXTensorElementDataType)dtype;
        OrtValue *whole = NULL, *part[2] = { NULL }, *joined = NULL;
        clr_sliced_value pieces[2];
        clr_slice slice[2];
        void *from = NULL, *to = NULL;
        clv_error err;

        if (clr_dtype_bits(dtype) == 8)
            continue;
        cr_assert_eq(clr_tensor_new(&ort, &shape, &whole, &err), CLV_OK, "%s", err.message);
        cr_assert_eq(clr_tensor_data(&ort, whole, &from, NULL), CLV_OK);
        for (size_t i = 0; i < clr_dtype_bytes(dtype, ROWS * COLUMNS); i++)
            ((uint8_t *)from)[i] = (uint8_t)(37 * i + 91);
        for (int k = 0; k < 2; k++) { /* columns 0 to 2, and 3 and 4 */
            static const int64_t at[2][2] = { { 0, 0 }, { 0, 3 } };
            static const int64_t n[2][2] = { { ROWS, 3 }, { ROWS, 2 } };
            slice[k] = (clr_slice){ .rank = 2, .offsets = at[k], .dims = n[k] };
            cr_assert_eq(clr_slice_extract(&ort, whole, &slice[k], "x", &part[k], &err), CLV_OK,
                         "%s", err.message);
            pieces[k] = (clr_sliced_value){ &slice[k], part[k] };
            cr_assert_eq(clr_tensor_data(&ort, part[k], &to, NULL), CLV_OK);
            for (int i = 0; i < ROWS * n[k][1]; i++)
                cr_assert_eq(
                    clr_element(dtype, to, i),
                    clr_element(dtype, from, i / n[k][1] * COLUMNS + at[k][1] + i % n[k][1]));
        }
        const clr_assembly all = { "x", shape, pieces, 2 };
        cr_assert_eq(clr_slices_assemble(&ort, &all, &joined, &err), CLV_OK, "%s", err.message);
        cr_assert_eq(clr_tensor_data(&ort, joined, &to, NULL), CLV_OK);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            cr_assert_eq(clr_element(dtype, to, i), clr_element(dtype, from, i));
        for (int k = 0; k < 2; k++)
            clr_value_free(&ort, part[k]);
        clr_value_free(&ort, whole);
        clr_value_free(&ort, joined);
    }
}

/* The runtime counts the types behind float4e2m1 otherwise. */
Test(slice, a_tensor_is_of_the_type_that_was_asked_for)
{
    static const int64_t dims[] = { 3 };
    for (int dtype = 1; dtype <= 26; dtype++) {
        clr_shape shape = shape_of(1, dims), is;
        OrtValue *value = NULL;
        clv_error err;

        if (dtype == 14 || dtype == 15) /* complex ones it does not make */
            continue;
        shape.dtype = (ONNXTensorElementDataType)dtype;
        cr_assert_eq(clr_tensor_new(&ort, &shape, &value, &err), CLV_OK, "%s", err.message);
        cr_assert_eq(clr_tensor_shape(&ort, value, &is, &err), CLV_OK, "%s", err.message);
        cr_assert_eq((int)is.dtype, dtype);
        clr_value_free(&ort, value);
    }
}

Test(slice, gaps_and_overlaps_are_refused)
{
    const int64_t overlap[] = { 1, 0 }, size[] = { 2, 3 }, end[] = { 3, 0 }, one[] = { 1, 3 };
    bool same = false;
    clv_error err;

    cr_expect_eq(join(overlap, size, &same, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "pieces 0 and 1 of 'x' overlap"), "%s", err.message);
    cr_expect_eq(join(end, one, &same, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "have 9 elements, expected 12"), "%s", err.message);
}
