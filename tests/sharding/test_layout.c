/* test_layout.c - which part is where, how it is written, and what is no layout. */
#include "notation/layout_text.h"
#include "sharding/layout.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "sharding/parts.h"
#include "support/layout_sim.h"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(layout, .init = open_arena, .fini = close_arena);

static clv_layout by_dims(int dim0, int dim1, int dim2)
{
    clv_layout l = CLV_LAYOUT_COPIES;
    const int dim[] = { dim0, dim1, dim2 };
    for (int a = 0; a < 3; a++)
        if (dim[a] >= 0)
            clv_layout_split(&l, a, dim[a], 1);
        else if (dim[a] == CLV_AXIS_PARTIAL) {
            l.dim[a] = CLV_AXIS_PARTIAL;
            l.reduce[a] = CLV_REDUCE_SUM;
        }
    return l;
}

static clv_tensor_split tensor_of(int32_t rank, const int64_t *dims, clv_uneven_policy policy)
{
    return (
        clv_tensor_split){ .rank = rank, .dims = dims, .dtype = CLV_DT_FLOAT16, .policy = policy };
}

/* "0:0+2,0+4 1:..." offset+size by device. */
static const char *parts(const clv_layout *l, const clv_mesh *mesh, const clv_tensor_split *t)
{
    static char text[2000];
    int used = 0;
    clv_split_dims dims;
    clv_part part;
    cr_assert_eq(clv_layout_check(l, mesh, t->rank, t, NULL), CLV_OK);
    clv_split_dims_of(l, t, &dims);
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        clv_layout_part(l, mesh, t, &dims, p, &part);
        int64_t elems = 1;
        for (int32_t i = 0; i < dims.rank; i++) {
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld+%lld",
                             i        ? ","
                             : p == 0 ? ""
                                      : " ",
                             (long long)part.offset[i], (long long)part.size[i]);
            elems *= part.size[i];
        }
        cr_assert_eq(part.bytes, 2 * elems);
        cr_assert_leq(part.bytes, clv_layout_bytes(l, mesh, t));
    }
    return text;
}

static const int64_t four_by_four[] = { 4, 4 };

/* covers: C.005 C.007 */
Test(layout, two_devices_have_rows_columns_or_copies)
{
    const clv_mesh *mesh = sim_mesh(arena, "2");
    clv_tensor_split t = tensor_of(2, four_by_four, CLV_UNEVEN_REFUSE);
    clv_layout rows = by_dims(0, -1, -1), columns = by_dims(1, -1, -1), copies = CLV_LAYOUT_COPIES;
    cr_assert_str_eq(parts(&rows, mesh, &t), "0+2,0+4 2+2,0+4");
    cr_assert_str_eq(parts(&columns, mesh, &t), "0+4,0+2 0+4,2+2");
    cr_assert_str_eq(parts(&copies, mesh, &t), "0+4,0+4 0+4,0+4");
}

/* covers: C.008 C.013 A.012 */
Test(layout, four_devices_mix_rows_columns_and_copies)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    clv_tensor_split t = tensor_of(2, four_by_four, CLV_UNEVEN_REFUSE);
    clv_layout both = by_dims(0, 1, -1), copies = CLV_LAYOUT_COPIES, rows = by_dims(0, -1, -1),
               columns = by_dims(1, -1, -1);
    cr_assert_str_eq(parts(&both, mesh, &t), "0+2,0+2 0+2,2+2 2+2,0+2 2+2,2+2");
    cr_assert_str_eq(parts(&copies, mesh, &t), "0+4,0+4 0+4,0+4 0+4,0+4 0+4,0+4");
    cr_assert_str_eq(parts(&rows, mesh, &t), "0+2,0+4 0+2,0+4 2+2,0+4 2+2,0+4");
    cr_assert_str_eq(parts(&columns, mesh, &t), "0+4,0+2 0+4,0+2 0+4,2+2 0+4,2+2");
}

/* covers: C.001 */
Test(layout, data_and_model_parallel_are_layouts_of_the_same_tensors)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    const int64_t batch[] = { 8, 4 }, weight[] = { 4, 6 };
    clv_tensor_split x = tensor_of(2, batch, CLV_UNEVEN_REFUSE);
    clv_tensor_split w = tensor_of(2, weight, CLV_UNEVEN_REFUSE);
    clv_layout data = by_dims(0, 0, -1), model = by_dims(1, 1, -1), copies = CLV_LAYOUT_COPIES;
    cr_assert_str_eq(parts(&data, mesh, &x), "0+2,0+4 2+2,0+4 4+2,0+4 6+2,0+4");
    cr_assert_eq(clv_layout_bytes(&copies, mesh, &w), 48); /* data parallel: weights are copies */
    clv_layout mixed_x = by_dims(0, -1, -1), mixed_w = by_dims(-1, 1, -1);
    cr_assert_str_eq(parts(&mixed_x, mesh, &x), "0+4,0+4 0+4,0+4 4+4,0+4 4+4,0+4");
    cr_assert_str_eq(parts(&mixed_w, mesh, &w), "0+4,0+3 0+4,3+3 0+4,0+3 0+4,3+3");
    cr_assert_eq(clv_layout_check(&model, mesh, 2, &w, NULL), CLV_EUSAGE); /* 6 over 4 */
}

Test(layout, the_innermost_axis_cuts_what_the_outer_one_left)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    const int64_t ten[] = { 10 };
    clv_tensor_split t = tensor_of(1, ten, CLV_UNEVEN_CEIL);
    clv_layout l = by_dims(0, 0, -1);
    cr_assert_str_eq(parts(&l, mesh, &t), "0+3 3+2 5+3 8+2");
    l.nest[0] = 1;
    l.nest[1] = 0; /* tp outermost */
    cr_assert_str_eq(parts(&l, mesh, &t), "0+3 5+3 3+2 8+2");
}

/* (b, s) -> b*s with b = 3: tp takes a half of every s. */
Test(layout, an_inner_factor_is_split_within_each_outer_part)
{
    const clv_mesh *mesh = sim_mesh(arena, "3x2");
    const int64_t fused[] = { 12 };
    clv_tensor_split t = tensor_of(1, fused, CLV_UNEVEN_REFUSE);
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split(&l, 1, 0, 6);
    cr_assert_str_eq(parts(&l, mesh, &t), "0+6,0+1 0+6,1+1 0+6,0+1 0+6,1+1 0+6,0+1 0+6,1+1");
    clv_layout_split(&l, 0, 0, 1);
    cr_assert_eq(l.nest[0], 0);
    cr_assert_eq(l.nest[1], 1);
    cr_assert_str_eq(parts(&l, mesh, &t), "0+2,0+1 0+2,1+1 2+2,0+1 2+2,1+1 4+2,0+1 4+2,1+1");
}

/* 7 heads of 64, and 3 of 4 within 2 outer parts. covers: A.021 */
Test(layout, a_unit_is_never_cut)
{
    const clv_mesh *mesh = sim_mesh(arena, "2"), *nested = sim_mesh(arena, "2x2");
    const int64_t heads[] = { 448 }, fused[] = { 24 }, shares[] = { 1, 2 };
    char buf[CLV_UNEVEN_TEXT], shown[CLV_LAYOUT_TEXT];
    clv_tensor_split t = tensor_of(1, heads, CLV_UNEVEN_CEIL);
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split_units(&l, 0, 0, 1, 64);
    cr_assert_str_eq(parts(&l, mesh, &t), "0+4,0+64 4+3,0+64");
    cr_assert_str_eq(clv_layout_uneven(buf, &l, mesh, &t, 0), "256, 192");
    cr_assert_eq(clv_layout_along(&l, mesh, &t, 0), 256);
    cr_assert_eq(clv_layout_bytes(&l, mesh, &t), 512);
    cr_assert_str_eq(clv_layout_show(shown, &l, mesh, 1), "{tp*64}");
    t.share[0] = shares;
    cr_assert_str_eq(clv_layout_uneven(buf, &l, mesh, &t, 0), "128, 320");
    t = tensor_of(1, heads, CLV_UNEVEN_CEIL);
    clv_layout_split_units(&l, 1, 0, 1, 64);
    cr_assert_str_eq(parts(&l, nested, &t), "0+2,0+64 2+2,0+64 4+2,0+64 6+1,0+64");
    t = tensor_of(1, fused, CLV_UNEVEN_BALANCED);
    l = CLV_LAYOUT_COPIES;
    clv_layout_split_units(&l, 0, 0, 2, 4);
    cr_assert_str_eq(parts(&l, mesh, &t), "0+2,0+2,0+4 0+2,2+1,0+4");
    cr_assert_eq(clv_layout_along(&l, mesh, &t, 0), 16);
    cr_assert_str_eq(clv_layout_show(shown, &l, mesh, 1), "{tp@2*4}");
}

/* covers: C.020 D.005 */
Test(layout, sizes_by_hand_are_the_parts)
{
    const clv_mesh *mesh = sim_mesh(arena, "4");
    const int64_t table[] = { 20, 3 }, sizes[] = { 10, 1, 0, 9 };
    clv_error err;
    clv_tensor_split t = tensor_of(2, table, CLV_UNEVEN_REFUSE);
    clv_layout l = by_dims(0, -1, -1);
    char buf[CLV_UNEVEN_TEXT];
    t.share[0] = sizes;
    cr_assert_eq(clv_cut_check_sizes(sizes, 4, 4, 20, "Gather", &err), CLV_OK);
    cr_assert_str_eq(parts(&l, mesh, &t), "0+10,0+3 10+1,0+3 11+0,0+3 11+9,0+3");
    cr_assert_eq(clv_layout_bytes(&l, mesh, &t), 60);
    cr_assert_str_eq(clv_layout_uneven(buf, &l, mesh, &t, 0), "10, 1, 0, 9");
    cr_assert_eq(clv_cut_check_sizes(sizes, 4, 4, 21, "Gather", &err), CLV_EUSAGE);
    cr_assert_str_eq(err.message, "Gather: the sizes add up to 20, the dimension is 21");
    cr_assert_eq(clv_cut_check_sizes(sizes, 3, 4, 20, "Gather", &err), CLV_EUSAGE);
    cr_assert_str_eq(err.message, "Gather: 3 sizes are given for 4 parts");
    const int64_t negative[] = { -1, 21 };
    cr_assert_eq(clv_cut_check_sizes(negative, 2, 2, 20, "Gather", &err), CLV_EUSAGE);
    cr_assert_str_eq(err.message, "Gather: size 0 is -1, expected at least 0");
}

/* covers: A.021 */
Test(layout, uneven_parts_are_reported)
{
    const clv_mesh *mesh = sim_mesh(arena, "4");
    const int64_t ten[] = { 10, 8 };
    char buf[CLV_UNEVEN_TEXT];
    clv_layout l = by_dims(0, -1, -1), even = by_dims(1, -1, -1);
    clv_tensor_split t = tensor_of(2, ten, CLV_UNEVEN_CEIL);
    cr_assert_str_eq(clv_layout_uneven(buf, &l, mesh, &t, 0), "3, 3, 3, 1");
    cr_assert_str_eq(clv_layout_uneven(buf, &l, mesh, &t, 1), "");
    cr_assert_str_eq(clv_layout_uneven(buf, &even, mesh, &t, 1), "");
    t.policy = CLV_UNEVEN_BALANCED;
    cr_assert_str_eq(clv_layout_uneven(buf, &l, mesh, &t, 0), "3, 3, 2, 2");
    const int64_t shares[] = { 4, 4, 1, 1 };
    t.share[0] = shares;
    cr_assert_str_eq(clv_layout_uneven(buf, &l, mesh, &t, 0), "4, 4, 1, 1");
}

/* Every cut of small dimensions: parts follow each other, none is missed, none is far from its due.
 */
Test(layout, cuts_cover_a_dimension_once)
{
    for (int64_t size = 0; size <= 20; size++)
        for (int64_t count = 1; count <= 6; count++)
            for (int policy = 0; policy < 3; policy++) {
                const int64_t share[] = { 3, 1, 4, 1, 5, 9 };
                int64_t end = 0, total = 0, offset, length;
                for (int64_t k = 0; k < count; k++)
                    total += share[k];
                for (int64_t k = 0; k < count; k++) {
                    if (policy == 0)
                        clv_cut_shares(size, count, k, share, &offset, &length);
                    else
                        clv_cut(size, count, k, (clv_uneven_policy)policy, &offset, &length);
                    cr_assert(offset == end && length >= 0);
                    double due = policy == 0 ? (double)(size * share[k]) / (double)total
                                             : (double)size / (double)count;
                    if (policy != CLV_UNEVEN_CEIL)
                        cr_assert((double)length - due < 1 && due - (double)length < 1);
                    else
                        cr_assert_leq(length, (size + count - 1) / count);
                    end += length;
                }
                cr_assert_eq(end, size);
            }
}

Test(layout, shares_of_any_size_do_not_overflow)
{
    const int64_t size = INT64_MAX, share[] = { INT64_MAX / 4, INT64_MAX / 4, INT64_MAX / 4 };
    int64_t offset, length;
    clv_cut_shares(size, 3, 2, share, &offset, &length);
    cr_assert(offset > size / 3 && offset + length == size);
}

/* -- what is one layout -- */

Test(layout, equal_layouts_are_equal_bytes)
{
    clv_layout a = by_dims(0, 1, -1), b = by_dims(0, 1, -1);
    cr_assert(clv_layout_equal(&a, &b));
    clv_layout_unsplit(&b, 1);
    cr_assert_not(clv_layout_equal(&a, &b));
    a = by_dims(0, -1, -1);
    cr_assert(clv_layout_equal(&a, &b));
}

Test(layout, the_plain_form_is_one_for_equal_parts)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x1x3");
    clv_layout one = by_dims(0, 0, 0), two = by_dims(0, -1, 0), partial = by_dims(0, -2, 0);
    clv_layout a = clv_layout_plain(&one, mesh), b = clv_layout_plain(&two, mesh),
               c = clv_layout_plain(&partial, mesh);
    cr_assert(clv_layout_equal(&a, &b) && clv_layout_equal(&b, &c));
    clv_layout fused = by_dims(0, -1, -1);
    clv_layout_split(&fused, 2, 0, 2); /* dp leaves single elements of the 2 */
    fused = clv_layout_plain(&fused, mesh);
    cr_assert(clv_layout_equal(&fused, &b));
    fused = by_dims(0, -1, -1);
    clv_layout_split(&fused, 2, 0, 4);
    clv_layout same = clv_layout_plain(&fused, mesh);
    cr_assert(clv_layout_equal(&fused, &same));
}

/* Units that every part has as many of say nothing; those of axes that become one do. */
Test(layout, the_plain_form_has_units_only_where_they_count)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    const int64_t even[] = { 32 }, uneven[] = { 24 }, shares[] = { 1, 3 };
    clv_tensor_split t = tensor_of(1, even, CLV_UNEVEN_CEIL);
    clv_layout l = CLV_LAYOUT_COPIES, ordinary = by_dims(0, -1, -1), none = CLV_LAYOUT_COPIES;
    clv_layout_split_units(&l, 0, 0, 1, 8);
    clv_layout got = clv_layout_plain_for(&l, mesh, &t);
    cr_assert(clv_layout_equal(&got, &ordinary));
    t.share[0] = shares; /* 8 and 24 elements, not 10 and 22 */
    t.dims = uneven;
    got = clv_layout_plain_for(&l, mesh, &t);
    cr_assert(clv_layout_equal(&got, &l));
    t = tensor_of(1, uneven, CLV_UNEVEN_CEIL);
    got = clv_layout_plain_for(&l, mesh, &t);
    cr_assert(clv_layout_equal(&got, &l)); /* 3 units */
    clv_layout_unsplit(&l, 0);
    cr_assert(clv_layout_equal(&l, &none));
    clv_layout_split(&l, 0, 0, 1);
    clv_layout_split_units(&l, 1, 0, 2, 4); /* within single ones of 2: of 6 units of 4 */
    got = clv_layout_plain_for(&l, mesh, &t);
    clv_layout both = CLV_LAYOUT_COPIES;
    clv_layout_split_units(&both, 0, 0, 1, 4);
    clv_layout_split_units(&both, 1, 0, 1, 4);
    cr_assert(clv_layout_equal(&got, &both));
}

Test(layout, is_written_by_dimension)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2x2");
    char buf[CLV_LAYOUT_TEXT];
    clv_layout l = by_dims(0, 2, 2);
    cr_assert_str_eq(clv_layout_show(buf, &l, mesh, 3), "{dp, -, sp.tp}");
    l = by_dims(-1, -2, 0);
    cr_assert_str_eq(clv_layout_show(buf, &l, mesh, 1), "{tp} sum(sp)");
    l = by_dims(-2, -2, -1);
    cr_assert_str_eq(clv_layout_show(buf, &l, mesh, 0), "{} sum(dp, sp)");
    l = CLV_LAYOUT_COPIES;
    clv_layout_split(&l, 2, 1, 4);
    cr_assert_str_eq(clv_layout_show(buf, &l, mesh, 2), "{-, tp@4}");
}

/* -- what is none -- */

static void refused(const clv_layout *l, const clv_mesh *mesh, const clv_tensor_split *t,
                    const char *sentence)
{
    clv_error err = { .message = "" };
    cr_assert_eq(clv_layout_check(l, mesh, t->rank, t, &err), CLV_EUSAGE, "%s", sentence);
    cr_assert_str_eq(err.message, sentence);
}

/* covers: C.015 C.016 */
Test(layout, what_a_tensor_cannot_be_split_into_is_said)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x3");
    const int64_t dims[] = { 6, 5, 1 };
    clv_tensor_split t = tensor_of(3, dims, CLV_UNEVEN_REFUSE);
    clv_layout l = by_dims(3, -1, -1);
    refused(&l, mesh, &t, "axis dp splits dimension 3 of a tensor of rank 3");
    l = by_dims(-1, 1, -1);
    refused(&l, mesh, &t,
            "dimension 1 of 5 elements does not divide into 3 equal parts over axis tp");
    l = by_dims(2, -1, -1);
    refused(&l, mesh, &t, "dimension 2 has 1 elements, axis dp would make 2 parts");
    l = by_dims(-1, -1, 0);
    refused(&l, mesh, &t, "a layout uses axis 2 of a mesh of 2 axes");
    l = by_dims(0, 0, -1);
    l.nest[1] = 0;
    refused(&l, mesh, &t, "the 2 axes that split dimension 0 are not nested 0, 1, ... each once");
    l = by_dims(-2, -2, -1);
    l.reduce[1] = CLV_REDUCE_MAX;
    refused(&l, mesh, &t, "a layout is partial by sum and by max over axis tp, expected one");
    l = by_dims(-2, -1, -1);
    l.reduce[0] = CLV_REDUCE_NONE;
    refused(&l, mesh, &t, "axis dp has reduction 0, expected one, for it is partial");
    l = by_dims(0, -1, -1);
    l.outer[0] = 4;
    refused(&l, mesh, &t,
            "dimension 0 of 6 elements is not made of 4 equal outer parts, as axis dp has it");
    l = CLV_LAYOUT_COPIES;
    clv_layout_split(&l, 1, 0, 1);
    l.outer[0] = 0;
    refused(&l, mesh, &t,
            "axis dp has outer 0 and nest 0, expected 1 and 0, for it splits nothing");
}

Test(layout, units_that_do_not_go_with_a_dimension_are_said)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    const int64_t dims[] = { 24 };
    clv_tensor_split t = tensor_of(1, dims, CLV_UNEVEN_CEIL);
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split_units(&l, 0, 0, 1, 7);
    refused(&l, mesh, &t, "axis dp splits 24 elements of dimension 0 in units of 7");
    l.unit[0] = 0;
    refused(&l, mesh, &t, "axis dp has unit 0, expected at least 1");
    l.unit[0] = 24;
    refused(&l, mesh, &t, "dimension 0 has 1 units of 24 elements, axis dp would make 2 parts");
    l.unit[0] = 8;
    cr_assert_eq(clv_layout_check(&l, mesh, 1, &t, NULL), CLV_OK);
    t.policy = CLV_UNEVEN_REFUSE;
    refused(&l, mesh, &t, "dimension 0 of 3 units does not divide into 2 equal parts over axis dp");
    t.policy = CLV_UNEVEN_CEIL;
    clv_layout_split(&l, 1, 0, 1);
    refused(&l, mesh, &t,
            "axes dp and tp split dimension 0 in units of 8 and 1 elements, expected one");
    l.unit[0] = 4;
    l.outer[1] = 6;
    refused(&l, mesh, &t,
            "axis dp splits 6 elements of dimension 0 in units of 4, within which an axis splits");
    l = CLV_LAYOUT_COPIES;
    l.unit[1] = 2;
    refused(&l, mesh, &t, "axis tp has unit 2, expected 1, for it splits nothing");
}

Test(layout, outer_factors_must_be_split_evenly)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    const int64_t dims[] = { 12 }, shares[] = { 1, 2 };
    clv_tensor_split t = tensor_of(1, dims, CLV_UNEVEN_CEIL);
    clv_layout l = by_dims(0, -1, -1);
    clv_layout_split(&l, 1, 0, 3);
    refused(&l, mesh, &t,
            "axis dp splits the outer 3 of dimension 0 into 2 parts, expected equal ones, for an "
            "axis splits within them");
    l.outer[1] = 6;
    cr_assert_eq(clv_layout_check(&l, mesh, 1, &t, NULL), CLV_OK);
    t.share[0] = shares;
    cr_assert_eq(clv_layout_check(&l, mesh, 1, &t, NULL), CLV_EUSAGE);
    t.share[0] = NULL;
    l.nest[0] = 1;
    l.nest[1] = 0;
    refused(&l, mesh, &t,
            "axis dp splits within 1 outer parts of dimension 0, after an axis within 6, expected "
            "a multiple");
}
