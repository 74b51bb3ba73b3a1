/* test_placement_parts.c - the parts of one tensor; the examples are those of PyTorch's RFC. */
#include "notation/placement_parts.h"

#include "placement_helpers.h"

static clv_arena *arena;
static clv_error err;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    err = (clv_error){ .message = "" };
}
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(placement_parts, .init = set_up, .fini = tear_down);

static void expect_parts(const char *spec, int32_t rank, const int64_t *dims, const char *want)
{
    clv_placement_file file = file_of(spec, arena);
    clv_placement_parts parts = { 0 };

    cr_assert_eq(cut(&file, rank, dims, NULL, arena, &parts, &err), CLV_OK, "%s: %s", spec,
                 err.message);
    cr_expect_str_eq(show_parts(&file, &parts, arena), want, "%s: %s", spec,
                     show_parts(&file, &parts, arena));
    cr_expect(covers_once(&parts, dims, arena), "%s", spec);
}

#define DIMS(...)                                                                                  \
    (int32_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / 8), (int64_t[]) { __VA_ARGS__ }

/* covers: D.003 D.006 */
Test(placement_parts, rows_on_four_devices)
{
    expect_parts("{\"single_split\":{\"dim\":0,\"placements\":[\"rank:0/cuda:0\","
                 "\"rank:1/cuda:1\",\"rank:2/cuda:2\",\"rank:3/cuda:3\"]}}",
                 DIMS(8, 3),
                 "rank:0/cuda:0 [0,0]+[2,3]; rank:1/cuda:1 [2,0]+[2,3]; rank:2/cuda:2 [4,0]+[2,3]; "
                 "rank:3/cuda:3 [6,0]+[2,3]");
}

#define MESH_2_4                                                                                   \
    "{\"mesh\":[[\"rank:0/cuda:0\",\"rank:0/cuda:1\",\"rank:0/cuda:2\",\"rank:0/cuda:3\"],"        \
    "[\"rank:1/cuda:4\",\"rank:1/cuda:5\",\"rank:1/cuda:6\",\"rank:1/cuda:7\"]]}"

/* covers: D.007 D.008 */
Test(placement_parts, numbers_of_the_rfc_on_a_mesh)
{
    static const int tensor[4][8] = { { 1, 1, 2, 2, 3, 3, 4, 4 },
                                      { 1, 1, 2, 2, 3, 3, 4, 4 },
                                      { 5, 5, 6, 6, 7, 7, 8, 8 },
                                      { 5, 5, 6, 6, 7, 7, 8, 8 } };
    clv_placement_file file = file_of(MESH_2_4, arena);
    clv_placement_parts parts = { 0 };
    const int64_t dims[] = { 4, 8 };

    cr_assert_eq(cut(&file, 2, dims, NULL, arena, &parts, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(parts.n, 8);
    cr_expect(!parts.uneven);
    for (int32_t i = 0; i < parts.n; i++) {
        const clv_placement_part *p = &parts.at[i];
        cr_expect_eq(file.devices.at[p->device].index, i);
        cr_expect_eq(file.devices.at[p->device].rank, i / 4);
        cr_assert_eq(p->size[0], 2);
        cr_assert_eq(p->size[1], 2);
        for (int k = 0; k < 4; k++) /* cuda:0 has 1s, cuda:4 has 5s */
            cr_expect_eq(tensor[p->offset[0] + k / 2][p->offset[1] + k % 2], i + 1);
    }
}

/* covers: D.009 */
Test(placement_parts, what_does_not_divide_is_cut_as_torch_chunk_does)
{
    /* torch.arange(7).chunk(4): 2, 2, 2, 1; chunk(6) has 2, 2, 2, 1 and ends: the rest is empty. */
    expect_parts("{\"single_split\":{\"dim\":0,\"placements\":[\"cuda:0\",\"cuda:1\",\"cuda:2\","
                 "\"cuda:3\"]}}",
                 DIMS(7), "cuda:0 [0]+[2]; cuda:1 [2]+[2]; cuda:2 [4]+[2]; cuda:3 [6]+[1]");
    expect_parts("{\"single_split\":{\"dim\":0,\"placements\":[\"cuda:0\",\"cuda:1\",\"cuda:2\","
                 "\"cuda:3\",\"cuda:4\",\"cuda:5\"]}}",
                 DIMS(7),
                 "cuda:0 [0]+[2]; cuda:1 [2]+[2]; cuda:2 [4]+[2]; cuda:3 [6]+[1]; cuda:4 [7]+[0]; "
                 "cuda:5 [7]+[0]");
    expect_parts(
        "{\"mesh\":[[\"cuda:0\",\"cuda:1\",\"cuda:2\"],[\"cuda:3\",\"cuda:4\",\"cuda:5\"]]}",
        DIMS(3, 2),
        "cuda:0 [0,0]+[2,1]; cuda:1 [0,1]+[2,1]; cuda:2 [0,2]+[2,0]; cuda:3 [2,0]+[1,1]; "
        "cuda:4 [2,1]+[1,1]; cuda:5 [2,2]+[1,0]");
    expect_parts("{\"mesh\":[[\"cuda:0\"],[\"cuda:1\"]]}", DIMS(0, 5),
                 "cuda:0 [0,0]+[0,5]; cuda:1 [0,0]+[0,5]");
}

/* covers: D.009 */
Test(placement_parts, uneven_is_reported)
{
    clv_placement_file file = file_of(MESH_2_4, arena);
    clv_placement_parts parts = { 0 };

    for (int64_t r = 0; r < 6; r++)
        for (int64_t c = 0; c < 10; c++) {
            const int64_t dims[] = { r, c };
            cr_assert_eq(cut(&file, 2, dims, NULL, arena, &parts, &err), CLV_OK);
            cr_expect_eq(parts.n, 8);
            cr_expect_eq(parts.uneven, r % 2 != 0 || c % 4 != 0);
            cr_expect(covers_once(&parts, dims, arena));
        }
}

/* covers: D.005 */
Test(placement_parts, sizes_by_hand)
{
    expect_parts("{\"single_split\":{\"dim\":-1,\"placements\":[\"cuda:0\",\"cuda:1\",\"cuda:2\"],"
                 "\"shard_sizes\":[1,0,4]}}",
                 DIMS(2, 5), "cuda:0 [0,0]+[2,1]; cuda:1 [0,1]+[2,0]; cuda:2 [0,1]+[2,4]");
}

/* covers: D.003 */
Test(placement_parts, shards_are_split_again)
{
    expect_parts("{\"single_split\":{\"dim\":0,\"placements\":[\"cpu\",{\"single_split\":{\"dim\":"
                 "1,\"placements\":[\"cuda:0\",\"cuda:1\"]}},{\"mesh\":[[\"cuda:2\"],[\"cuda:0\"]]"
                 "}]}}",
                 DIMS(6, 4),
                 "cpu [0,0]+[2,4]; cuda:0 [2,0]+[2,2]; cuda:1 [2,2]+[2,2]; cuda:2 [4,0]+[1,4]; "
                 "cuda:0 [5,0]+[1,4]");
    /* sizes are of the shard, not of the tensor; a dimension may be split twice */
    expect_parts("{\"single_split\":{\"dim\":0,\"placements\":[{\"single_split\":{\"dim\":0,"
                 "\"placements\":[\"cuda:0\",\"cuda:1\"],\"shard_sizes\":[1,2]}},{\"single_split\":"
                 "{\"dim\":0,\"placements\":[\"cuda:2\",{\"mesh\":[\"cuda:3\",\"cuda:4\"]}]}}]}}",
                 DIMS(6),
                 "cuda:0 [0]+[1]; cuda:1 [1]+[2]; cuda:2 [3]+[2]; cuda:3 [5]+[1]; cuda:4 [6]+[0]");
}

/* covers: D.002 */
Test(placement_parts, a_device_has_the_whole)
{
    expect_parts("\"rank:0/cuda:0\"", DIMS(3, 0, 2), "rank:0/cuda:0 [0,0,0]+[3,0,2]");
    expect_parts("\"cpu\"", 0, NULL, "cpu []+[]");
}

/* covers: D.004 */
Test(placement_parts, dimensions_by_name)
{
    static const char *const names[] = { "out", "in" };
    clv_placement_file file = file_of(
        "{\"single_split\":{\"dim\":\"in\",\"placements\":[\"cuda:0\",\"cuda:1\"]}}", arena);
    clv_placement_parts parts = { 0 };
    const int64_t dims[] = { 3, 4 };

    cr_assert_eq(cut(&file, 2, dims, names, arena, &parts, &err), CLV_OK, "%s", err.message);
    cr_expect_str_eq(show_parts(&file, &parts, arena), "cuda:0 [0,0]+[3,2]; cuda:1 [0,2]+[3,2]");
    cr_expect_eq(cut(&file, 1, dims, names, arena, &parts, &err), CLV_EFORMAT);
    cr_expect_str_eq(err.message, "tensor 'x': its single_split is of dim 'in', but it has no "
                                  "dimension of that name");
    cr_expect_eq(cut(&file, 2, dims, NULL, arena, &parts, &err), CLV_EFORMAT);
    cr_expect_str_eq(err.message, "tensor 'x': its single_split is of dim 'in', but its dimensions "
                                  "have no names");
}

/* covers: D.005 D.007 D.017 */
Test(placement_parts, what_cannot_apply_is_reported)
{
    static const struct {
        const char *spec;
        int32_t rank;
        int64_t dims[3];
        const char *says;
    } bad[] = {
        { "{\"single_split\":{\"dim\":1,\"placements\":[\"cpu\"]}}",
          1,
          { 4 },
          "tensor 'x': its single_split is of dim 1, but it has 1 dimension" },
        { "{\"single_split\":{\"dim\":-3,\"placements\":[\"cpu\"]}}",
          2,
          { 4, 4 },
          "tensor 'x': its single_split is of dim -3, but it has 2 dimensions" },
        { "{\"single_split\":{\"dim\":0,\"placements\":[\"cpu\"]}}",
          0,
          { 0 },
          "its single_split is of dim 0, but it has 0 dimensions" },
        { "{\"single_split\":{\"dim\":0,\"placements\":[\"cpu\",\"cuda\"],\"shard_sizes\":[2,3]}}",
          1,
          { 4 },
          "tensor 'x': the sizes add up to 5, the dimension is 4" },
        { "{\"single_split\":{\"dim\":0,\"placements\":[{\"single_split\":{\"dim\":0,"
          "\"placements\":[\"cpu\"],\"shard_sizes\":[4]}},\"cuda\"]}}",
          1,
          { 4 },
          "the sizes add up to 4, the dimension is 2" },
        { "{\"mesh\":[\"cpu\",\"cuda\"]}",
          2,
          { 4, 4 },
          "tensor 'x': its mesh has 1 dimension, but it has 2" },
        { "{\"mesh\":[[\"cpu\",\"cuda\"]]}", 0, { 0 }, "its mesh has 2 dimensions, but it has 0" },
        { "{\"composite\":{\"a\":\"cpu\"}}", 1, { 4 }, "tensor 'x': its spec is a composite" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clv_placement_file file = file_of(bad[i].spec, arena);
        clv_placement_parts parts = { .n = -1 };
        cr_expect_eq(cut(&file, bad[i].rank, bad[i].dims, NULL, arena, &parts, &err), CLV_EFORMAT,
                     "%s", bad[i].spec);
        cr_expect(strstr(err.message, bad[i].says), "%s gives: %s", bad[i].spec, err.message);
        cr_expect_eq(parts.n, -1);
    }
}

Test(placement_parts, huge_dimensions_do_not_overflow)
{
    clv_placement_file file = file_of(MESH_2_4, arena);
    clv_placement_parts parts = { 0 };
    const int64_t dims[] = { INT64_MAX, INT64_MAX };

    cr_assert_eq(cut(&file, 2, dims, NULL, arena, &parts, &err), CLV_OK);
    cr_expect_eq(parts.at[7].offset[0] + parts.at[7].size[0], INT64_MAX);
    cr_expect_eq(parts.at[7].offset[1] + parts.at[7].size[1], INT64_MAX);
}

Test(placement_parts, too_many_parts_are_refused)
{
    static const char *const texts[] = { "cpu" };
    const clv_placement_spec *const *on = NULL;
    const clv_placement_spec *spec = NULL, *same[16];

    cr_assert_eq(clv_placement_spec_devices(texts, 1, arena, &on, &err), CLV_OK);
    spec = on[0];
    for (int i = 0; i < 6; i++) { /* 16^6 parts by six arrays of 16; 2^20 are 16^5 */
        for (int k = 0; k < 16; k++)
            same[k] = spec;
        cr_expect_eq(clv_placement_spec_single_split(CLV_PLACEMENT_DIM(0),
                                                     &(clv_placement_shards){ same, 16, NULL },
                                                     arena, &spec, &err),
                     i < 5 ? CLV_OK : CLV_EFORMAT);
    }
    cr_expect_str_eq(err.message, "over 1048576 placements are in one spec");
}
