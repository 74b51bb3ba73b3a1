/* test_sharding_spec.c - the examples of the multi-device proposal, the ways of uneven splits, and
 * what is refused. Random specs are in test_sharding_spec_random.c.
 */
#include "notation/spec_shards.h"

#include <criterion/criterion.h>

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(sharding_spec, .init = set_up, .fini = tear_down);

#define DEVICES(...)                                                                               \
    .device = (const int64_t[]){ __VA_ARGS__ },                                                    \
    .n_device = (int32_t)(sizeof(const int64_t[]){ __VA_ARGS__ } / sizeof(int64_t))
#define GROUP(k, ...)                                                                              \
    {                                                                                              \
        .key = (k), .devices = (const int64_t[]){ __VA_ARGS__ },                                   \
        .n_devices = (int32_t)(sizeof(const int64_t[]){ __VA_ARGS__ } / sizeof(int64_t))           \
    }

/* An axis with one simple sharding of its own size. */
#define AXIS(a, shards)                                                                            \
    {                                                                                              \
        .axis = (a), .n_simple = 1, .simple = (const clv_simple_sharding[])                        \
        {                                                                                          \
            {                                                                                      \
                .dim = CLV_DIM_UNKNOWN, .num_shards = (shards)                                     \
            }                                                                                      \
        }                                                                                          \
    }

static clv_shards split(const clv_sharding_spec *spec, int32_t rank, const int64_t *dims,
                        clv_uneven_policy policy)
{
    clv_shards shards = { 0 };
    clv_error err = { .message = "" };
    cr_assert_eq(
        clv_spec_shards(spec,
                        &(clv_tensor_split){
                            .rank = rank, .dims = dims, .dtype = CLV_DT_FLOAT, .policy = policy },
                        arena, &shards, &err),
        CLV_OK, "%s", err.message);
    return shards;
}

/* The elements of [[1,2],[3,4]] that a device has, as digits: "12", "1". "" for none. */
static const char *elements(const clv_shards *shards, int64_t device)
{
    static char text[16];
    int n = 0;
    for (int32_t i = 0; i < shards->n; i++) {
        const clv_shard *s = &shards->at[i];
        if (s->device != device)
            continue;
        for (int64_t r = s->offset[0]; r < s->offset[0] + s->size[0]; r++)
            for (int64_t c = s->offset[1]; c < s->offset[1] + s->size[1]; c++)
                text[n++] = (char)('1' + 2 * r + c);
    }
    text[n] = 0;
    return text;
}

static const int64_t two_by_two[] = { 2, 2 };

static void two_by_two_gives(const clv_sharding_spec *spec, int n, const char *const *expected)
{
    clv_shards shards = split(spec, 2, two_by_two, CLV_UNEVEN_REFUSE);
    cr_assert_not(shards.uneven);
    for (int d = 0; d < n; d++)
        cr_expect_str_eq(elements(&shards, d), expected[d], "device %d has %s, expected %s", d,
                         elements(&shards, d), expected[d]);
}
#define GIVES(spec, ...)                                                                           \
    two_by_two_gives((spec), (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)),      \
                     (const char *[]){ __VA_ARGS__ })

/* -- splitting -- */

/* covers: A.011 A.013 A.019 A.020 */
Test(sharding_spec, axis_0_of_two_by_two_gives_rows)
{
    clv_sharded_dim dims[] = { AXIS(0, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };
    GIVES(&spec, "12", "34");
}

/* covers: A.011 A.014 A.020 */
Test(sharding_spec, axis_1_of_two_by_two_gives_columns)
{
    clv_sharded_dim dims[] = { AXIS(1, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };
    GIVES(&spec, "13", "24");
}

/* covers: A.015 A.016 */
Test(sharding_spec, the_first_listed_axis_is_the_outer_loop)
{
    clv_sharded_dim dims[] = { AXIS(0, 2), AXIS(1, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1, 2, 3), .dims = dims, .n_dims = 2 };
    GIVES(&spec, "1", "2", "3", "4");
    spec.device = (const int64_t[]){ 3, 1, 0, 2 };
    GIVES(&spec, "3", "2", "4", "1");
}

/* covers: A.017 */
Test(sharding_spec, the_order_of_the_list_counts_not_the_number_of_the_axis)
{
    clv_sharded_dim dims[] = { AXIS(1, 2), AXIS(0, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1, 2, 3), .dims = dims, .n_dims = 2 };
    GIVES(&spec, "1", "3", "2", "4");
}

/* covers: A.018 A.019 */
Test(sharding_spec, four_axes_nest_in_their_listed_order)
{
    enum { N = 2 * 3 * 1 * 2 };
    int64_t device[N];
    const int64_t shape[] = { 4, 6, 5, 2 };
    clv_sharded_dim dims[] = { AXIS(3, 2), AXIS(-3, 3), AXIS(2, 1), AXIS(0, 2) };
    clv_sharding_spec spec = {
        .tensor = "X", .device = device, .n_device = N, .dims = dims, .n_dims = 4
    };
    for (int i = 0; i < N; i++)
        device[i] = 100 + i;
    clv_shards shards = split(&spec, 4, shape, CLV_UNEVEN_REFUSE);

    int k = 0;
    cr_assert_eq(shards.n, N);
    for (int64_t d = 0; d < 2; d++)
        for (int64_t b = 0; b < 3; b++)
            for (int64_t a = 0; a < 2; a++, k++) {
                const clv_shard *s = &shards.at[k];
                cr_assert_eq(s->device, 100 + k);
                cr_assert_eq(s->part, k);
                cr_assert_arr_eq(s->offset, ((int64_t[]){ 2 * a, 2 * b, 0, d }), 32);
                cr_assert_arr_eq(s->size, ((int64_t[]){ 2, 2, 5, 1 }), 32);
                cr_assert_eq(s->bytes, 80);
            }
}

/* covers: A.033 */
Test(sharding_spec, a_negative_axis_counts_from_the_back)
{
    clv_sharded_dim back[] = { AXIS(-1, 2) }, front[] = { AXIS(-2, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = back, .n_dims = 1 };
    GIVES(&spec, "13", "24");
    spec.dims = front;
    GIVES(&spec, "12", "34");
}

/* -- copies -- */

/* covers: A.012 A.023 A.024 */
Test(sharding_spec, a_group_and_no_sharded_axis_is_a_copy_on_each_member)
{
    clv_device_group groups[] = { GROUP(-1, 0, 1) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(-1), .groups = groups, .n_groups = 1 };
    GIVES(&spec, "1234", "1234", "");
}

/* The proposal prints [[2,3]] for devices 2 and 3: an erratum; the rule gives [[3,4]].
 * covers: A.012 A.024 A.025 A.026 */
Test(sharding_spec, groups_get_a_copy_of_their_part_each)
{
    clv_device_group groups[] = { GROUP(-1, 0, 1), GROUP(-2, 2, 3) };
    clv_sharded_dim dims[] = { AXIS(0, 2) };
    clv_sharding_spec spec = {
        .tensor = "X", DEVICES(-1, -2), .groups = groups, .n_groups = 2, .dims = dims, .n_dims = 1
    };
    GIVES(&spec, "12", "12", "34", "34");
}

/* covers: A.027 */
Test(sharding_spec, several_plain_devices_and_no_sharded_axis_are_copies)
{
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 2, 3) };
    GIVES(&spec, "1234", "", "1234", "1234");
}

/* covers: A.028 */
Test(sharding_spec, groups_of_different_sizes_and_plain_ids_mix)
{
    clv_device_group groups[] = { GROUP(-7, 5, 6, 0), GROUP(-1, 4) };
    clv_sharded_dim dims[] = { AXIS(0, 2), AXIS(1, 2) };
    clv_sharding_spec spec = { .tensor = "X",
                               DEVICES(1, -7, -1, 2),
                               .groups = groups,
                               .n_groups = 2,
                               .dims = dims,
                               .n_dims = 2 };
    clv_shards shards = split(&spec, 2, two_by_two, CLV_UNEVEN_REFUSE);
    const int64_t devices[] = { 1, 5, 6, 0, 4, 2 }, parts[] = { 0, 1, 1, 1, 2, 3 };

    cr_assert_eq(shards.n, 6);
    for (int i = 0; i < 6; i++) {
        cr_expect_eq(shards.at[i].device, devices[i]);
        cr_expect_eq(shards.at[i].part, parts[i]);
    }
    GIVES(&spec, "2", "1", "4", "", "3", "2", "2");
}

/* covers: A.032 */
Test(sharding_spec, an_entry_that_is_a_key_is_a_group_whatever_its_sign)
{
    clv_device_group groups[] = { GROUP(1, 2, 3) };
    clv_sharded_dim dims[] = { AXIS(0, 2) };
    clv_sharding_spec spec = {
        .tensor = "X", DEVICES(0, 1), .groups = groups, .n_groups = 1, .dims = dims, .n_dims = 1
    };
    GIVES(&spec, "12", "", "34", "34");
}

/* -- uneven -- */

static void offsets_are(const clv_shards *s, const int64_t *offset, const int64_t *size, int n)
{
    cr_assert_eq(s->n, n);
    for (int i = 0; i < n; i++) {
        cr_expect_eq(s->at[i].offset[0], offset[i], "part %d", i);
        cr_expect_eq(s->at[i].size[0], size[i], "part %d", i);
        cr_expect_eq(s->at[i].bytes, 4 * size[i], "part %d", i);
    }
}

/* covers: A.021 A.022 */
Test(sharding_spec, an_uneven_axis_follows_the_policy_and_that_is_said)
{
    const int64_t ten[] = { 10 }, eight[] = { 8 };
    clv_sharded_dim dims[] = { AXIS(0, 4) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1, 2, 3), .dims = dims, .n_dims = 1 };
    clv_error err = { .message = "" };
    clv_shards s = { 0 };

    s = split(&spec, 1, ten, CLV_UNEVEN_CEIL);
    cr_assert(s.uneven);
    offsets_are(&s, (int64_t[]){ 0, 3, 6, 9 }, (int64_t[]){ 3, 3, 3, 1 }, 4);
    s = split(&spec, 1, ten, CLV_UNEVEN_BALANCED);
    cr_assert(s.uneven);
    offsets_are(&s, (int64_t[]){ 0, 3, 6, 8 }, (int64_t[]){ 3, 3, 2, 2 }, 4);
    cr_assert_eq(clv_spec_shards(&spec,
                                 &(clv_tensor_split){ .rank = 1,
                                                      .dims = ten,
                                                      .dtype = CLV_DT_FLOAT,
                                                      .policy = CLV_UNEVEN_REFUSE },
                                 arena, &s, &err),
                 CLV_EFORMAT);
    cr_assert_str_eq(err.message,
                     "sharding of 'X': size 10 of axis 0 does not divide into 4 equal shards");
    s = split(&spec, 1, eight, CLV_UNEVEN_CEIL);
    cr_assert_not(s.uneven, "8 divides into 4: no policy was needed");
}

Test(sharding_spec, more_shards_than_elements_leaves_the_last_ones_empty)
{
    const int64_t two[] = { 2 }, five[] = { 5 };
    clv_sharded_dim dims[] = { AXIS(0, 4) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1, 2, 3), .dims = dims, .n_dims = 1 };
    clv_shards s = split(&spec, 1, two, CLV_UNEVEN_BALANCED);
    offsets_are(&s, (int64_t[]){ 0, 1, 2, 2 }, (int64_t[]){ 1, 1, 0, 0 }, 4);
    s = split(&spec, 1, five, CLV_UNEVEN_CEIL);
    offsets_are(&s, (int64_t[]){ 0, 2, 4, 5 }, (int64_t[]){ 2, 2, 1, 0 }, 4);
}

Test(sharding_spec, an_empty_tensor_has_empty_parts_and_a_scalar_one_whole_part)
{
    const int64_t none[] = { 0 };
    clv_sharded_dim dims[] = { AXIS(0, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };
    clv_shards s = split(&spec, 1, none, CLV_UNEVEN_REFUSE);
    offsets_are(&s, (int64_t[]){ 0, 0 }, (int64_t[]){ 0, 0 }, 2);
    spec.n_dims = 0;
    s = split(&spec, 0, NULL, CLV_UNEVEN_REFUSE);
    cr_assert_eq(s.n, 2);
    cr_assert_eq(s.at[1].bytes, 4);
}

/* covers: A.022 */
Test(sharding_spec, bytes_are_of_the_packed_part)
{
    const int64_t shape[] = { 3, 5 };
    clv_sharded_dim dims[] = { AXIS(0, 3) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1, 2), .dims = dims, .n_dims = 1 };
    clv_shards s = { 0 };
    cr_assert_eq(clv_spec_shards(&spec,
                                 &(clv_tensor_split){ .rank = 2,
                                                      .dims = shape,
                                                      .dtype = CLV_DT_INT4,
                                                      .policy = CLV_UNEVEN_REFUSE },
                                 arena, &s, NULL),
                 CLV_OK);
    cr_assert_eq(s.at[2].bytes, 3, "5 elements of 4 bits");
}

/* -- factors of a fused axis -- */

/* [2,4] with 4 split in two, then reshaped to [8]: part 0 has elements 0 1 4 5.
 * covers: A.034 A.035 */
Test(sharding_spec, factors_of_a_fused_axis_are_taken_apart_in_order)
{
    const int64_t eight[] = { 8 };
    clv_simple_sharding simple[] = { { 2, NULL, 1 }, { 4, NULL, 2 } };
    clv_sharded_dim dims[] = { { .axis = 0, .simple = simple, .n_simple = 2 } };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };
    clv_shards s = split(&spec, 1, eight, CLV_UNEVEN_REFUSE);

    cr_assert_eq(s.rank, 2);
    cr_assert_arr_eq(s.dims, ((int64_t[]){ 2, 4 }), 16);
    cr_assert_arr_eq(s.axis_of, ((int32_t[]){ 0, 0 }), 8);
    cr_assert_arr_eq(s.at[1].offset, ((int64_t[]){ 0, 2 }), 16);
    cr_assert_arr_eq(s.at[1].size, ((int64_t[]){ 2, 2 }), 16);
}

/* covers: A.034 */
Test(sharding_spec, shard_counts_of_factors_multiply_and_the_first_is_the_outer_loop)
{
    const int64_t shape[] = { 3, 8 };
    clv_simple_sharding simple[] = { { 2, NULL, 2 }, { 4, NULL, 2 } };
    clv_sharded_dim dims[] = { { .axis = -1, .simple = simple, .n_simple = 2 } };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1, 2, 3), .dims = dims, .n_dims = 1 };
    clv_shards s = split(&spec, 2, shape, CLV_UNEVEN_REFUSE);

    cr_assert_eq(s.n, 4);
    cr_assert_eq(s.rank, 3);
    cr_assert_arr_eq(s.at[1].offset, ((int64_t[]){ 0, 0, 2 }), 24);
    cr_assert_arr_eq(s.at[2].offset, ((int64_t[]){ 0, 1, 0 }), 24);
    cr_assert_arr_eq(s.at[3].size, ((int64_t[]){ 3, 1, 2 }), 24);
}

/* covers: A.035 A.036 */
Test(sharding_spec, one_factor_may_be_absent_or_symbolic_and_is_what_the_others_leave)
{
    static const char *const symbols[] = { NULL, "heads" };
    const int64_t eight[] = { 8 };
    for (int i = 0; i < 2; i++) {
        clv_simple_sharding alone[] = { { CLV_DIM_UNKNOWN, symbols[i], 2 } };
        clv_simple_sharding beside[] = { { CLV_DIM_UNKNOWN, symbols[i], 2 }, { 4, NULL, 1 } };
        clv_sharded_dim dims[] = { { .axis = 0, .simple = alone, .n_simple = 1 } };
        clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };

        clv_shards s = split(&spec, 1, eight, CLV_UNEVEN_REFUSE);
        offsets_are(&s, (int64_t[]){ 0, 4 }, (int64_t[]){ 4, 4 }, 2);
        dims[0] = (clv_sharded_dim){ .axis = 0, .simple = beside, .n_simple = 2 };
        s = split(&spec, 1, eight, CLV_UNEVEN_REFUSE);
        cr_assert_arr_eq(s.dims, ((int64_t[]){ 2, 4 }), 16);
        cr_assert_eq(s.at[1].offset[0], 1);
    }
}

/* covers: A.034 */
Test(sharding_spec, factors_that_do_not_multiply_to_the_axis_are_refused)
{
    const int64_t eight[] = { 8 }, none[] = { 0 };
    const clv_simple_sharding bad[][2] = {
        { { 2, NULL, 2 }, { 3, NULL, 1 } },
        { { 3, NULL, 2 }, { CLV_DIM_UNKNOWN, NULL, 1 } },
        { { 0, NULL, 2 }, { CLV_DIM_UNKNOWN, NULL, 1 } },
        { { CLV_DIM_UNKNOWN, "a", 2 }, { CLV_DIM_UNKNOWN, "b", 1 } },
        { { INT64_MAX, NULL, 2 }, { INT64_MAX, NULL, 1 } },
        { { 16, NULL, 2 }, { 1, NULL, 1 } },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clv_sharded_dim dims[] = { { .axis = 0, .simple = bad[i], .n_simple = 2 } };
        clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };
        clv_shards s = { 0 };
        clv_error err = { .message = "" };
        cr_expect_eq(clv_spec_shards(&spec,
                                     &(clv_tensor_split){ .rank = 1,
                                                          .dims = eight,
                                                          .dtype = CLV_DT_FLOAT,
                                                          .policy = CLV_UNEVEN_CEIL },
                                     arena, &s, &err),
                     CLV_EFORMAT, "%zu", i);
        cr_expect(strstr(err.message, "'X'") && strstr(err.message, "axis 0"), "%s", err.message);
    }
    clv_simple_sharding zero[] = { { 0, NULL, 2 }, { 5, NULL, 1 } };
    clv_sharded_dim dims[] = { { .axis = 0, .simple = zero, .n_simple = 2 } };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };
    cr_assert_eq(split(&spec, 1, none, CLV_UNEVEN_REFUSE).at[1].bytes, 0);
}

/* -- what is refused -- */

static void refused(const clv_sharding_spec *spec, int32_t rank, int64_t n_devices,
                    const char *says)
{
    clv_error err = { .message = "" };
    cr_expect_eq(clv_spec_check(spec, rank, n_devices, arena, &err), CLV_EFORMAT, "wanted: %s",
                 says);
    cr_expect(strstr(err.message, says), "said: %s\nwanted: %s", err.message, says);
    cr_expect(strstr(err.message, "'X'"), "does not name the tensor: %s", err.message);
}

static void accepted(const clv_sharding_spec *spec, int32_t rank, int64_t n_devices)
{
    clv_error err = { .message = "" };
    cr_expect_eq(clv_spec_check(spec, rank, n_devices, arena, &err), CLV_OK, "%s", err.message);
}

/* covers: A.033 */
Test(sharding_spec, an_axis_out_of_range_is_refused)
{
    clv_sharded_dim dims[] = { AXIS(2, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };
    refused(&spec, 2, 2, "axis 2 is not in [-2, 1]");
    accepted(&spec, 3, 2);
    accepted(&spec, CLV_RANK_UNKNOWN, 2);
    dims[0].axis = -3;
    refused(&spec, 2, 2, "axis -3 is not in [-2, 1]");
    refused(&spec, 0, 2, "axis -3 of a scalar");
    dims[0].axis = INT64_MIN;
    refused(&spec, CLV_RANK_UNKNOWN, 2, "is not in [-64, 63]");
    dims[0].axis = INT64_MAX;
    refused(&spec, 2, 2, "is not in [-2, 1]");
}

Test(sharding_spec, an_axis_listed_twice_is_refused)
{
    clv_sharded_dim dims[] = { AXIS(1, 2), AXIS(-1, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1, 2, 3), .dims = dims, .n_dims = 2 };
    refused(&spec, 2, 4, "axis -1 is in sharded_dim twice");
    accepted(&spec, 3, 4);
    accepted(&spec, CLV_RANK_UNKNOWN, 4);
    dims[0].axis = -1;
    refused(&spec, CLV_RANK_UNKNOWN, 4, "twice");
}

/* covers: A.032 */
Test(sharding_spec, a_negative_entry_without_a_group_is_refused)
{
    clv_device_group groups[] = { GROUP(-1, 0, 1) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(-2), .groups = groups, .n_groups = 1 };
    refused(&spec, 2, 2, "device has -2, which is neither a device nor a key");
}

Test(sharding_spec, groups_are_not_empty_not_nested_and_have_one_key_each)
{
    clv_device_group groups[] = { GROUP(-1, 0, 1), GROUP(-2, 0) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(-1), .groups = groups, .n_groups = 2 };
    accepted(&spec, 2, 2);
    groups[1].n_devices = 0;
    refused(&spec, 2, 2, "no device for the key -2");
    groups[1] = (clv_device_group)GROUP(-2, -1);
    refused(&spec, 2, 2, "index_to_device_group_map has -1");
    groups[1] = (clv_device_group)GROUP(-1, 0);
    refused(&spec, 2, 2, "the key -1 twice");
}

/* A key is no device, however large it is.
 * covers: A.032 */
Test(sharding_spec, a_device_that_the_configuration_has_not_is_refused)
{
    clv_device_group groups[] = { GROUP(-1, 0, 4) }, large[] = { GROUP(9, 0, 3) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 4) };
    refused(&spec, 2, 4, "device has 4, the configuration has devices 0 to 3");
    accepted(&spec, 2, 5);
    accepted(&spec, 2, 0);
    spec = (clv_sharding_spec){ .tensor = "X", DEVICES(-1), .groups = groups, .n_groups = 1 };
    refused(&spec, 2, 4, "index_to_device_group_map has 4");
    spec = (clv_sharding_spec){ .tensor = "X", DEVICES(9), .groups = large, .n_groups = 1 };
    accepted(&spec, 2, 4);
}

Test(sharding_spec, the_device_list_is_as_long_as_there_are_parts)
{
    clv_sharded_dim dims[] = { AXIS(0, 2) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1, 2), .dims = dims, .n_dims = 1 };
    refused(&spec, 2, 4, "device has 3 entries for 2 parts");
    spec.n_device = 1;
    refused(&spec, 2, 4, "device has 1 entries for 2 parts");
    spec.n_device = spec.n_dims = 0;
    refused(&spec, 2, 4, "device is empty");
}

/* covers: A.035 */
Test(sharding_spec, shard_counts_below_one_and_sizes_below_zero_are_refused)
{
    clv_simple_sharding simple[] = { { CLV_DIM_UNKNOWN, NULL, 0 } };
    clv_sharded_dim dims[] = { { .axis = 0, .simple = simple, .n_simple = 1 } };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 1 };
    refused(&spec, 2, 2, "num_shards of axis 0 is 0");
    simple[0].num_shards = -2;
    refused(&spec, 2, 2, "num_shards of axis 0 is -2");
    simple[0] = (clv_simple_sharding){ -4, NULL, 2 };
    refused(&spec, 2, 2, "dim_value of axis 0 is -4");
    dims[0].n_simple = 0;
    refused(&spec, 2, 2, "has no simple_sharding");
}

Test(sharding_spec, hostile_numbers_end_in_a_limit_and_not_in_memory)
{
    const int64_t huge[] = { INT64_C(1) << 62, 2 };
    clv_sharded_dim dims[] = { AXIS(0, INT64_MAX), AXIS(1, INT64_MAX) };
    clv_sharding_spec spec = { .tensor = "X", DEVICES(0, 1), .dims = dims, .n_dims = 2 };
    refused(&spec, 2, 2, "device has 2 entries for 9223372036854775807 parts");

    int64_t *many = CLV_NEW_ARRAY(arena, int64_t, 2048);
    for (int i = 0; i < 2048; i++)
        many[i] = -1;
    clv_device_group group = { -1, (const int64_t[2048]){ 0 }, 2048 };
    spec = (clv_sharding_spec){
        .tensor = "X", .device = many, .n_device = 2048, .groups = &group, .n_groups = 1
    };
    clv_shards s = { 0 };
    cr_assert_eq(clv_spec_shards(&spec,
                                 &(clv_tensor_split){ .rank = 2,
                                                      .dims = two_by_two,
                                                      .dtype = CLV_DT_FLOAT,
                                                      .policy = CLV_UNEVEN_CEIL },
                                 arena, &s, NULL),
                 CLV_ELIMIT);
    spec = (clv_sharding_spec){ .tensor = "X", DEVICES(0) };
    cr_assert_eq(clv_spec_shards(&spec,
                                 &(clv_tensor_split){ .rank = 2,
                                                      .dims = huge,
                                                      .dtype = CLV_DT_FLOAT,
                                                      .policy = CLV_UNEVEN_CEIL },
                                 arena, &s, NULL),
                 CLV_ELIMIT, "bytes beyond 64 bits");
    clv_simple_sharding ones[65];
    for (int i = 0; i < 65; i++)
        ones[i] = (clv_simple_sharding){ 1, NULL, 1 };
    clv_sharded_dim fused = { .axis = 0, .simple = ones, .n_simple = 65 };
    spec.dims = &fused;
    spec.n_dims = 1;
    cr_assert_eq(clv_spec_check(&spec, 1, 0, arena, NULL), CLV_ELIMIT);
}

Test(sharding_spec, a_hundred_thousand_parts_are_made)
{
    enum { N = 100000 };
    int64_t *device = CLV_NEW_ARRAY(arena, int64_t, N);
    clv_device_group *groups = CLV_NEW_ARRAY(arena, clv_device_group, N);
    int64_t *members = CLV_NEW_ARRAY(arena, int64_t, N);
    for (int i = 0; i < N; i++) {
        device[i] = -1 - i;
        members[i] = i;
        groups[i] = (clv_device_group){ -1 - i, &members[i], 1 };
    }
    clv_sharded_dim dims[] = { AXIS(0, N) };
    clv_sharding_spec spec = { .tensor = "X",
                               .device = device,
                               .n_device = N,
                               .groups = groups,
                               .n_groups = N,
                               .dims = dims,
                               .n_dims = 1 };
    clv_shards s = split(&spec, 1, (const int64_t[]){ 2 * N }, CLV_UNEVEN_REFUSE);
    cr_assert_eq(s.n, N);
    cr_assert_eq(s.at[N - 1].device, N - 1);
    cr_assert_eq(s.at[N - 1].offset[0], 2 * N - 2);
}

Test(sharding_spec, running_out_of_memory_is_said)
{
    clv_device_group groups[] = { GROUP(-1, 0, 1), GROUP(-2, 2, 3) };
    clv_sharded_dim dims[] = { AXIS(0, 2) };
    clv_sharding_spec spec = {
        .tensor = "X", DEVICES(-1, -2), .groups = groups, .n_groups = 2, .dims = dims, .n_dims = 1
    };
    clv_status status = CLV_ENOMEM;
    for (size_t limit = 1; status != CLV_OK; limit += 16) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_shards s = { 0 };
        if (!small)
            continue;
        status = clv_spec_shards(
            &spec,
            &(clv_tensor_split){
                .rank = 2, .dims = two_by_two, .dtype = CLV_DT_FLOAT, .policy = CLV_UNEVEN_CEIL },
            small, &s, NULL);
        cr_assert(status == CLV_OK || (status == CLV_ENOMEM && !s.at));
        clv_arena_free(small);
    }
}
