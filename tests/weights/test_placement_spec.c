/* test_placement_spec.c - devices, and placement specs from the helpers and from JSON. */
#include "notation/placement_json.h"
#include "notation/placement_spec.h"

#include "placement_helpers.h"

static clv_arena *arena;
static clv_error err;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    err = (clv_error){ .message = "" };
}
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(placement_spec, .init = set_up, .fini = tear_down);

/* covers: D.002 */
Test(placement_spec, devices_print_as_they_were_written)
{
    static const char *const good[] = { "cuda:0",
                                        "cpu",
                                        "cuda",
                                        "rank:0/cuda:0",
                                        "rank:15/cpu",
                                        "trainer_0/cuda:7",
                                        "node-1.lan/hip:2147483647" };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        clv_remote_device d;
        cr_assert_eq(clv_remote_device_parse(good[i], arena, &d, &err), CLV_OK, "%s", err.message);
        cr_expect_str_eq(clv_remote_device_print(&d, arena), good[i]);
    }
    clv_remote_device d;
    cr_assert_eq(clv_remote_device_parse("rank:3/cuda:5", arena, &d, &err), CLV_OK);
    cr_expect_eq(d.rank, 3);
    cr_expect_str_eq(d.type, "cuda");
    cr_expect_eq(d.index, 5);
}

Test(placement_spec, devices_are_ordered_by_number)
{
    clv_remote_device a, b;
    cr_assert_eq(clv_remote_device_parse("rank:2/cuda:9", arena, &a, &err), CLV_OK);
    cr_assert_eq(clv_remote_device_parse("rank:10/cuda:0", arena, &b, &err), CLV_OK);
    cr_expect_lt(clv_remote_device_cmp(&a, &b), 0);
    cr_assert_eq(clv_remote_device_parse("cuda:9", arena, &a, &err), CLV_OK);
    cr_assert_eq(clv_remote_device_parse("cuda:10", arena, &b, &err), CLV_OK);
    cr_expect_lt(clv_remote_device_cmp(&a, &b), 0);
    cr_assert_eq(clv_remote_device_parse("cuda", arena, &b, &err), CLV_OK);
    cr_expect_gt(clv_remote_device_cmp(&a, &b), 0);
}

/* covers: D.002 */
Test(placement_spec, bad_devices_are_reported)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "device '': expected a device such as 'cuda:0' or 'rank:0/cuda:0'" },
        { "cdua:0", "device 'cdua:0': 'cdua' is no device type, expected one such as 'cuda'" },
        { "cuda:", "device 'cuda:': expected a whole number below 2^31 behind the device type" },
        { "cuda:-1", "expected a whole number below 2^31 behind the device type" },
        { "cuda:01", "expected a whole number below 2^31 behind the device type" },
        { "cuda:0 ", "expected a whole number below 2^31 behind the device type" },
        { "cuda:2147483648", "expected a whole number below 2^31 behind the device type" },
        { "rank:0", "device 'rank:0': expected '/' and a device, such as 'cuda:0', behind the "
                    "rank" },
        { "rank:0/", "expected a device such as" },
        { "rank:/cuda:0", "expected a whole number below 2^31 between 'rank:' and '/'" },
        { "rank:x/cuda:0", "expected a whole number below 2^31 between 'rank:' and '/'" },
        { "rank:0/cuda:0/1", "expected one '/' at most" },
        { "/cuda:0", "expected 'rank:' and a number, or a worker's name" },
        { "a b/cuda:0", "expected 'rank:' and a number, or a worker's name" },
        { "w:1/cuda:0", "expected 'rank:' and a number, or a worker's name" },
        { "trainer", "'trainer' is no device type" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clv_remote_device d;
        cr_expect_eq(clv_remote_device_parse(bad[i].text, arena, &d, &err), CLV_EFORMAT, "%s",
                     bad[i].text);
        cr_expect(strstr(err.message, bad[i].says), "'%s' gives: %s", bad[i].text, err.message);
    }
}

/* What the spec is as JSON, on one line. */
static const char *json_of(const clv_placement_spec *spec)
{
    clv_json_out out;
    clv_json_begin(&out, arena, false);
    clv_placement_spec_write(&out, NULL, spec);
    cr_assert_eq(clv_json_end(&out, &err), CLV_OK);
    out.text[strcspn(out.text, "\n")] = '\0';
    return out.text;
}

/* covers: D.001 D.003 D.006 D.010 */
Test(placement_spec, single_split_by_the_helper)
{
    static const char *const devices[] = { "rank:0/cuda:0", "rank:1/cuda:1", "rank:2/cuda:2",
                                           "rank:3/cuda:3" };
    const clv_placement_spec *const *on = NULL;
    const clv_placement_spec *spec = NULL;
    const int64_t sizes[] = { 5, 1, 1, 1 };

    cr_assert_eq(clv_placement_spec_devices(devices, 4, arena, &on, &err), CLV_OK);
    cr_assert_eq(clv_placement_spec_single_split(CLV_PLACEMENT_DIM(0),
                                                 &(clv_placement_shards){ on, 4, NULL }, arena,
                                                 &spec, &err),
                 CLV_OK);
    cr_expect_str_eq(json_of(spec),
                     "{\"single_split\":{\"dim\":0,\"placements\":[\"rank:0/cuda:0\","
                     "\"rank:1/cuda:1\",\"rank:2/cuda:2\",\"rank:3/cuda:3\"]}}");
    cr_assert_eq(clv_placement_spec_single_split(CLV_PLACEMENT_NAMED("out"),
                                                 &(clv_placement_shards){ on, 4, sizes }, arena,
                                                 &spec, &err),
                 CLV_OK);
    cr_expect(strstr(json_of(spec), "\"dim\":\"out\""));
    cr_expect(strstr(json_of(spec), "\"shard_sizes\":[5,1,1,1]"));
}

/* covers: D.007 D.011 */
Test(placement_spec, mesh_by_the_helper)
{
    static const char *const devices[] = { "rank:0/cuda:0", "rank:0/cuda:1", "rank:1/cuda:4",
                                           "rank:1/cuda:5" };
    const clv_placement_spec *const *on = NULL;
    const clv_placement_spec *spec = NULL;

    cr_assert_eq(clv_placement_spec_devices(devices, 4, arena, &on, &err), CLV_OK);
    cr_assert_eq(clv_placement_spec_mesh(on, 2, (const int32_t[]){ 2, 2 }, arena, &spec, &err),
                 CLV_OK);
    cr_expect_eq(spec->n, 4);
    cr_expect_str_eq(json_of(spec), "{\"mesh\":[[\"rank:0/cuda:0\",\"rank:0/cuda:1\"],"
                                    "[\"rank:1/cuda:4\",\"rank:1/cuda:5\"]]}");
}

/* covers: D.012 D.014 */
Test(placement_spec, composite_by_the_helper)
{
    static const char *const devices[] = { "cuda:0", "cuda:1", "cuda:2", "cuda:3" };
    const clv_placement_spec *const *on = NULL;
    const clv_placement_spec *rows = NULL, *other = NULL, *inner = NULL, *whole = NULL;

    cr_assert_eq(clv_placement_spec_devices(devices, 4, arena, &on, &err), CLV_OK);
    cr_assert_eq(clv_placement_spec_single_split(CLV_PLACEMENT_DIM(0),
                                                 &(clv_placement_shards){ on, 2, NULL }, arena,
                                                 &rows, &err),
                 CLV_OK);
    cr_assert_eq(clv_placement_spec_single_split(CLV_PLACEMENT_DIM(0),
                                                 &(clv_placement_shards){ on + 2, 2, NULL }, arena,
                                                 &other, &err),
                 CLV_OK);
    clv_placement_entry weight = { "weight", rows };
    cr_assert_eq(clv_placement_spec_composite(&weight, 1, arena, &inner, &err), CLV_OK);
    clv_placement_entry nets[] = { { "net1", inner }, { "net2", inner }, { "net3", other } };
    cr_assert_eq(clv_placement_spec_composite(nets, 3, arena, &whole, &err), CLV_OK);
    cr_expect_str_eq(
        json_of(whole),
        "{\"composite\":{\"net1\":{\"composite\":{\"weight\":{\"single_split\":{\"dim\":0,"
        "\"placements\":[\"cuda:0\",\"cuda:1\"]}}}},\"net2\":{\"composite\":{\"weight\":"
        "{\"single_split\":{\"dim\":0,\"placements\":[\"cuda:0\",\"cuda:1\"]}}}},\"net3\":"
        "{\"single_split\":{\"dim\":0,\"placements\":[\"cuda:2\",\"cuda:3\"]}}}}");
}

Test(placement_spec, helpers_refuse_what_is_no_spec)
{
    static const char *const devices[] = { "cuda:0", "cuda:1" };
    const clv_placement_spec *const *on = NULL;
    const clv_placement_spec *spec = NULL, *deep = NULL;
    const int64_t minus[] = { 3, -1 }, much[] = { INT64_MAX, 1 };

    cr_assert_eq(clv_placement_spec_devices(devices, 2, arena, &on, &err), CLV_OK);
#define REFUSED(call, says)                                                                        \
    do {                                                                                           \
        cr_expect_eq((call), CLV_EFORMAT, #call);                                                  \
        cr_expect(strstr(err.message, says), "%s", err.message);                                   \
    } while (0)
    REFUSED(clv_placement_spec_single_split(
                CLV_PLACEMENT_DIM(64), &(clv_placement_shards){ on, 2, NULL }, arena, &spec, &err),
            "dim is 64, expected -64 to 63, or a name");
    REFUSED(clv_placement_spec_single_split(CLV_PLACEMENT_NAMED(""),
                                            &(clv_placement_shards){ on, 2, NULL }, arena, &spec,
                                            &err),
            "dim is an empty name");
    REFUSED(clv_placement_spec_single_split(
                CLV_PLACEMENT_DIM(0), &(clv_placement_shards){ on, 0, NULL }, arena, &spec, &err),
            "there are 0 placements");
    REFUSED(clv_placement_spec_single_split(
                CLV_PLACEMENT_DIM(0), &(clv_placement_shards){ on, 2, minus }, arena, &spec, &err),
            "shard_sizes[1] is -1");
    REFUSED(clv_placement_spec_single_split(
                CLV_PLACEMENT_DIM(0), &(clv_placement_shards){ on, 2, much }, arena, &spec, &err),
            "add up to over 2^63");
    REFUSED(clv_placement_spec_mesh(on, 0, NULL, arena, &spec, &err), "has 0 dimensions");
    REFUSED(clv_placement_spec_mesh(on, 2, (const int32_t[]){ 2, 0 }, arena, &spec, &err),
            "dimension 1 of the mesh is 0");
    REFUSED(clv_placement_spec_mesh(on, 2, (const int32_t[]){ 65536, 65536 }, arena, &spec, &err),
            "the mesh has over 1048576 elements");
    REFUSED(clv_placement_spec_composite(NULL, 0, arena, &spec, &err), "there are 0 names");
    static const char *const names[] = { "", "a..b", "..a", "a/", "/" };
    for (int i = 0; i < 5; i++) {
        clv_placement_entry entry = { names[i], on[0] };
        REFUSED(clv_placement_spec_composite(&entry, 1, arena, &spec, &err),
                "is no name of a tensor or module");
    }
    deep = on[0];
    for (int i = 1; i < CLV_PLACEMENT_DEPTH_MAX; i++)
        cr_assert_eq(clv_placement_spec_single_split(CLV_PLACEMENT_DIM(0),
                                                     &(clv_placement_shards){ &deep, 1, NULL },
                                                     arena, &deep, &err),
                     CLV_OK);
    REFUSED(clv_placement_spec_single_split(CLV_PLACEMENT_DIM(0),
                                            &(clv_placement_shards){ &deep, 1, NULL }, arena, &spec,
                                            &err),
            "specs are in each other");
    clv_placement_entry entry = { "w", deep };
    REFUSED(clv_placement_spec_composite(&entry, 1, arena, &spec, &err), "specs are in each other");
    cr_expect_null(spec); /* nothing was given */
}

/* covers: D.001 D.003 D.004 D.005 D.007 D.012 */
Test(placement_spec, written_specs_read_back)
{
    static const char *const specs[] = {
        "\"cpu\"",
        "{\"single_split\":{\"dim\":-1,\"placements\":[\"cuda:0\",\"cuda:0\"],\"shard_sizes\":[0,"
        "9007199254740992]}}",
        "{\"single_split\":{\"dim\":\"out\",\"placements\":[{\"single_split\":{\"dim\":1,"
        "\"placements\":[\"cuda:0\",\"cuda:1\"]}},{\"mesh\":[[\"cuda:2\"],[\"cuda:3\"]]}]}}",
        "{\"mesh\":[[[\"cuda:0\"]],[[{\"mesh\":[[[\"cuda:1\",\"cuda:2\"]]]}]]]}",
        "{\"composite\":{\"a.b\":\"cuda:0\",\"a/c\":{\"composite\":{\"d\":\"cuda:1\"}}}}",
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        cr_expect_str_eq(json_of(file_of(specs[i], arena).spec), specs[i]);
}

/* covers: D.001 D.004 */
Test(placement_spec, files_read_back_whole)
{
    static const char text[] =
        "{\"$schema\": \"x\", \"spec\": {\"single_split\": {\"dim\": \"out\", \"placements\": "
        "[\"cuda:1\", \"cuda:0\"]}}, \"devices\": [\"cuda:1\", \"cuda:0\", \"cpu\"], \"names\": "
        "{\"fc/weight\": [\"out\", \"in\"]}, \"cannot_apply\": \"skip\", \"others\": \"copy\"}";
    clv_placement_file file, again;
    const char *once = NULL, *twice = NULL;

    cr_assert_eq(placement_text_read(text, strlen(text), "s.json", arena, &file, &err), CLV_OK,
                 "%s", err.message);
    cr_expect(file.skip && file.copy_others);
    cr_expect_eq(file.devices.n, 3);
    cr_expect_str_eq(clv_remote_device_print(&file.devices.at[0], arena), "cuda:1");
    cr_assert_eq(placement_text_write(&file, arena, &once, &err), CLV_OK);
    cr_assert_eq(placement_text_read(once, strlen(once), "s.json", arena, &again, &err), CLV_OK,
                 "%s", err.message);
    cr_assert_eq(placement_text_write(&again, arena, &twice, &err), CLV_OK);
    cr_expect_str_eq(once, twice);
    cr_expect(strstr(once, "\"fc.weight\""));
}

/* covers: D.002 D.005 D.007 D.016 */
Test(placement_spec, bad_files_are_reported)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "[]", "s.json is an array, expected an object" },
        { "{}", "s.json has no key 'spec', which is required" },
        { "{\"spec\":1}", "s.json: spec is no placement, expected a device such as \"cuda:0\", or "
                          "an object with single_split, mesh or composite" },
        { "{\"spec\":null}", "s.json: spec is no placement" },
        { "{\"spec\":\"cuda:0\",\"x\":1}", "unknown key 'x'" },
        { "{\"spec\":\"cud:0\"}", "s.json: spec: device 'cud:0': 'cud' is no device type" },
        { "{\"spec\":{}}", "s.json: spec has 0 keys, expected one of single_split, mesh and "
                           "composite" },
        { "{\"spec\":{\"chunk\":1}}", "unknown key 'chunk'" },
        { "{\"spec\":{\"mesh\":[\"cpu\"],\"composite\":{\"a\":\"cpu\"}}}", "spec has 2 keys" },
        { "{\"spec\":{\"single_split\":{\"placements\":[\"cpu\"]}}}", "spec.single_split" },
        { "{\"spec\":{\"single_split\":{\"dim\":0}}}", "placements" },
        { "{\"spec\":{\"single_split\":{\"dim\":0.5,\"placements\":[\"cpu\"]}}}", "dim is 0.5" },
        { "{\"spec\":{\"single_split\":{\"dim\":64,\"placements\":[\"cpu\"]}}}", "dim is 64" },
        { "{\"spec\":{\"single_split\":{\"dim\":0,\"placements\":[]}}}",
          "spec.single_split: there are 0 placements, expected 1 to 1048576" },
        { "{\"spec\":{\"single_split\":{\"dim\":0,\"placements\":[\"cpu\"],\"shard_sizes\":[1,2]}}"
          "}",
          "s.json: spec.single_split.shard_sizes has 2 sizes, expected one for each of 1 "
          "placements" },
        { "{\"spec\":{\"single_split\":{\"dim\":0,\"placements\":[\"cpu\"],\"shard_sizes\":[-1]}}}",
          "shard_sizes[0] is -1" },
        { "{\"spec\":{\"single_split\":{\"dim\":0,\"placements\":[{\"composite\":{\"a\":\"cpu\"}}]}"
          "}}",
          "spec.single_split: placement 0 is a composite" },
        { "{\"spec\":{\"mesh\":\"cpu\"}}", "spec.mesh is no list" },
        { "{\"spec\":{\"mesh\":[]}}", "spec.mesh has an empty list" },
        { "{\"spec\":{\"mesh\":[[\"cpu\"],[]]}}",
          "spec.mesh[1] has 0 elements, expected 1 as in the first list of its level" },
        { "{\"spec\":{\"mesh\":[[\"cpu\"],\"cpu\"]}}",
          "spec.mesh[1] is a placement, expected lists in lists, all as deep" },
        { "{\"spec\":{\"mesh\":[\"cpu\",[\"cpu\"]]}}", "spec.mesh[1] is a list" },
        { "{\"spec\":{\"mesh\":[[\"cpu\",\"gpu0\"]]}}",
          "spec.mesh[0][1]: device 'gpu0': 'gpu0' is no device type" },
        { "{\"spec\":{\"composite\":[]}}", "spec.composite is no object" },
        { "{\"spec\":{\"composite\":{}}}", "spec.composite: there are 0 names" },
        { "{\"spec\":{\"composite\":{\"a..b\":\"cpu\"}}}", "'a..b' is no name" },
        { "{\"spec\":{\"composite\":{\"a\":\"cpu\",\"a\":\"cpu\"}}}", "twice" },
        { "{\"spec\":{\"composite\":{\"a.b\":\"cpu\",\"a\":{\"composite\":{\"b\":\"cpu\"}}}}}",
          "s.json: spec: the placement spec has two specs for 'a.b', expected one" },
        { "{\"spec\":{\"composite\":{\"a.b\":\"cpu\",\"a/b\":\"cpu\"}}}", "two specs for 'a.b'" },
        { "{\"spec\":\"cpu\",\"devices\":[\"cuda:0\"]}",
          "s.json: devices has no 'cpu', which the spec names" },
        { "{\"spec\":\"cpu\",\"devices\":[\"cpu\",\"cpu\"]}",
          "s.json: devices: device 'cpu' is listed twice" },
        { "{\"spec\":\"cpu\",\"devices\":[\"\"]}", "s.json: devices[0]: device ''" },
        { "{\"spec\":\"cpu\",\"names\":[]}", "s.json: names is no object" },
        { "{\"spec\":\"cpu\",\"names\":{\"w\":[\"a\",\"a\"]}}", "names.w has 'a' twice" },
        { "{\"spec\":\"cpu\",\"names\":{\"w\":[\"\"]}}", "names.w has an empty name" },
        { "{\"spec\":\"cpu\",\"names\":{\"w\":1}}", "names.w" },
        { "{\"spec\":\"cpu\",\"names\":{\"a.w\":[\"i\"],\"a/w\":[\"i\"]}}", "given twice" },
        { "{\"spec\":\"cpu\",\"cannot_apply\":\"no\"}",
          "s.json: cannot_apply is 'no', expected 'refuse' or 'skip'" },
        { "{\"spec\":\"cpu\",\"others\":true}", "s.json: others" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clv_placement_file file = { 0 };
        clv_status s =
            placement_text_read(bad[i].text, strlen(bad[i].text), "s.json", arena, &file, &err);
        cr_expect_eq(s, CLV_EFORMAT, "%s gives %d", bad[i].text, (int)s);
        cr_expect(strstr(err.message, bad[i].says), "%s gives: %s", bad[i].text, err.message);
        cr_expect_null(file.spec);
    }
}
