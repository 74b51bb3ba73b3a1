/* Every file of tests/data/bad/cluster is refused in one sentence that names the file, the place,
 * the value and what was expected.
 */
#include "cluster/cluster_json.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER  TEST_SOURCE_DIR "/tests/data/bad/cluster/"
#define CONFIGS TEST_SOURCE_DIR "/configs"

typedef struct {
    char file[40];
    clv_status status;
    char said[3][90]; /* all are in the message, besides the file's name */
} bad_file;

static bad_file files[] = {
    { "zero_devices", CLV_EFORMAT, { "devices is empty", "at least one" } },
    { "zero_count", CLV_EFORMAT, { "devices[0].count is 0", "from 1" } },
    { "too_many_devices", CLV_ELIMIT, { "more than 1024 devices" } },
    { "negative_bandwidth",
      CLV_EFORMAT,
      { "levels[0].bandwidth.value", "'-5GB/s'", "must not be negative" } },
    { "zero_bandwidth", CLV_EFORMAT, { "levels[0].bandwidth.value", "'0GB/s'", "above 0" } },
    { "tiny_bandwidth", CLV_EFORMAT, { "levels[0].bandwidth.value", "'1B/s'", "from 1KB/s" } },
    { "link_efficiency_over_1", CLV_EFORMAT, { "levels[0].efficiency.value is 1.2", "to 1" } },
    { "link_efficiency_zero", CLV_EFORMAT, { "levels[0].efficiency.value is 0", "from 1e-06" } },
    { "link_efficiency_text", CLV_EFORMAT, { "levels[0].efficiency.value is \"60%\"", "number" } },
    { "link_efficiency_without_source",
      CLV_EFORMAT,
      { "levels[0].efficiency", "no key 'source'", "required" } },
    { "number_without_unit",
      CLV_EFORMAT,
      { "levels[0].latency.value", "'2'", "has no unit, expected one of ns, us" } },
    { "number_not_text", CLV_EFORMAT, { "levels[0].latency.value is 2", "expected a string" } },
    { "unknown_unit",
      CLV_EFORMAT,
      { "devices[0].kind.memory.value", "unknown unit 'gigs'", "KiB, MiB, GiB" } },
    { "unknown_key",
      CLV_EFORMAT,
      { "levels[0]", "unknown key 'bandwith'", "name, size, bandwidth, latency" } },
    { "unknown_key_at_root", CLV_EFORMAT, { "unknown key 'topology'", "levels, links" } },
    { "unknown_key_in_kind",
      CLV_EFORMAT,
      { "devices[0].kind", "unknown key 'cores'", "vendor, memory" } },
    { "unknown_element_type",
      CLV_EFORMAT,
      { "devices[0].kind.matrix", "unknown key 'FP16'", "FLOAT16" } },
    { "buffers_over_memory",
      CLV_EFORMAT,
      { "reserved, buffers and headroom are 1182164582 bytes",
        "less than the memory's 1073741824" } },
    { "buffers_without_unit", CLV_EFORMAT, { "devices[0].kind.buffers.value", "has no unit" } },
    { "headroom_of_all", CLV_EFORMAT, { "devices[0].kind.headroom.value is 1", "from 0 to" } },
    { "headroom_negative", CLV_EFORMAT, { "devices[0].kind.headroom.value is -0.1", "from 0 to" } },
    { "headroom_text", CLV_EFORMAT, { "devices[0].kind.headroom.value is \"10%\"", "number" } },
    { "missing_key", CLV_EFORMAT, { "levels[0]", "no key 'latency'", "required" } },
    { "missing_version", CLV_EFORMAT, { "no key 'version'", "required" } },
    { "missing_source", CLV_EFORMAT, { "levels[0].bandwidth", "no key 'source'", "required" } },
    { "empty_source", CLV_EFORMAT, { "levels[0].bandwidth.source", "\"\"", "expected text" } },
    { "missing_float_rate",
      CLV_EFORMAT,
      { "devices[0].kind.matrix", "no key 'FLOAT'", "required" } },
    { "wrong_type_devices", CLV_EFORMAT, { "devices is \"eight\"", "expected an array" } },
    { "wrong_type_count", CLV_EFORMAT, { "devices[0].count is \"2\"", "whole number" } },
    { "wrong_type_kind", CLV_EFORMAT, { "devices[0].kind is 7", "expected a string" } },
    { "fractional_count", CLV_EFORMAT, { "devices[0].count is 1.5", "whole number" } },
    { "root_is_an_array", CLV_EFORMAT, { "is an array, expected an object" } },
    { "duplicate_device_names", CLV_EFORMAT, { "devices[1]", "'gpu0'", "unique" } },
    { "duplicate_kind_names", CLV_EFORMAT, { "devices[1].kind.name", "'toy'", "another kind" } },
    { "level_sizes_product",
      CLV_EFORMAT,
      { "product of the level sizes is 8", "number of devices, 2" } },
    { "level_sizes_overflow", CLV_EFORMAT, { "product of the level sizes is over 1024", "2" } },
    { "too_many_levels", CLV_ELIMIT, { "more than 16 levels" } },
    { "zero_level_size", CLV_EFORMAT, { "levels[0].size is 0", "from 1" } },
    { "no_levels_no_links", CLV_EFORMAT, { "neither levels nor links", "2 devices" } },
    { "levels_and_links", CLV_EFORMAT, { "both levels and links", "one of them" } },
    { "link_to_a_missing_device", CLV_EFORMAT, { "links[2].to is 3", "from 0 to 2" } },
    { "link_from_a_negative_device", CLV_EFORMAT, { "links[2].from is -1", "from 0 to 2" } },
    { "link_to_itself", CLV_EFORMAT, { "links[2]", "device 1 to itself" } },
    { "unreachable_pair",
      CLV_EFORMAT,
      { "no links lead from device 0 (gpu0) to device 2 (gpu2)" } },
    { "unreachable_one_way",
      CLV_EFORMAT,
      { "no links lead from device 2 (gpu2) to device 0 (gpu0)" } },
    { "both_ways_not_a_bool", CLV_EFORMAT, { "links[0].both_ways is \"yes\"", "true or false" } },
    { "efficiency_over_1", CLV_EFORMAT, { "efficiency.matrix.value is 1.01", "to 1" } },
    { "efficiency_zero", CLV_EFORMAT, { "efficiency.memory.value is 0", "to 1" } },
    { "proportion_negative", CLV_EFORMAT, { "workspace_proportion.value is -0.1", "to 1" } },
    { "reserved_over_memory",
      CLV_EFORMAT,
      { "devices[0].kind", "reserved is 2147483648", "1073741824" } },
    { "zero_memory", CLV_EFORMAT, { "devices[0].kind.memory.value is '0B'", "larger" } },
    { "zero_tiles", CLV_EFORMAT, { "devices[0].kind.tiles.value is 0", "from 1" } },
    { "huge_memory",
      CLV_EFORMAT,
      { "devices[0].kind.memory.value", "'1e400GB'", "less than 9e18" } },
    { "huge_latency", CLV_EFORMAT, { "levels[0].latency.value", "'999999s'", "an hour" } },
    { "infinite_rate", CLV_EFORMAT, { "matrix.FLOAT.value", "'1e999TFLOP/s'", "finite" } },
    { "huge_number", CLV_EFORMAT, { "devices[0].count", "finite" } },
    { "huge_count", CLV_EFORMAT, { "devices[0].count is 1e+300", "whole number" } },
    { "version_2", CLV_EFORMAT, { "version is 2", "expected the whole number 1" } },
    { "version_text", CLV_EFORMAT, { "version is \"1\"", "whole number" } },
    { "empty_name", CLV_EFORMAT, { "name is \"\"", "expected text" } },
    { "unknown_kind",
      CLV_EFORMAT,
      { "'h1000', an unknown device", "a100-40gb, a100-80gb", "/configs/devices" } },
    { "kind_outside_its_folder", CLV_EFORMAT, { "'../../../etc/passwd'", "letters, digits" } },
    { "empty", CLV_EFORMAT, { "is empty, expected a JSON value" } },
    { "only_spaces", CLV_EFORMAT, { "is empty, expected a JSON value" } },
    { "not_json", CLV_EFORMAT, { "line 1, column 1", "'d', expected a value" } },
    { "cut_off", CLV_EFORMAT, { "not JSON", "the end" } },
    { "text_behind", CLV_EFORMAT, { "'}', expected nothing behind the value" } },
    { "duplicate_keys", CLV_EFORMAT, { "key 'version' twice" } },
    { "deep_nesting", CLV_ELIMIT, { "nested more than 64 deep" } },
    { "raw_newline_in_text", CLV_EFORMAT, { "line 1, column 26", "no control character" } },
};

ParameterizedTestParameters(bad_clusters, is_refused_in_a_sentence_that_helps)
{
    return cr_make_param_array(bad_file, files, sizeof files / sizeof *files);
}

ParameterizedTest(bad_file *f, bad_clusters, is_refused_in_a_sentence_that_helps)
{
    char path[512];
    clv_error err = { 0 };
    clv_cluster *c = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    snprintf(path, sizeof path, FOLDER "%s.json", f->file);

    clv_status s = clv_cluster_load(path, CONFIGS, arena, &c, &err);

    cr_assert_eq(s, f->status, "%s: %d %s", f->file, (int)s, err.message);
    cr_assert_null(c, "a failed call leaves its result alone");
    cr_assert(strstr(err.message, f->file), "%s: said: %s", f->file, err.message);
    for (int i = 0; i < 3; i++)
        cr_assert(strstr(err.message, f->said[i]), "%s: '%s' is not in: %s", f->file, f->said[i],
                  err.message);
    clv_arena_free(arena);
}

Test(bad_clusters, every_file_of_the_folder_is_tested)
{
    DIR *dir = opendir(FOLDER);
    cr_assert(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        bool found = e->d_name[0] == '.';
        for (size_t i = 0; i < sizeof files / sizeof *files && !found; i++)
            found = strncmp(e->d_name, files[i].file, strlen(files[i].file)) == 0 &&
                    strcmp(e->d_name + strlen(files[i].file), ".json") == 0;
        cr_assert(found, "%s has no line in the table", e->d_name);
    }
    closedir(dir);
}

static void fails(const char *name, const char *configs, clv_status status, const char *said)
{
    clv_error err = { 0 };
    clv_cluster *c = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status s = clv_cluster_load(name, configs, arena, &c, &err);
    cr_assert_eq(s, status, "%d: %s", (int)s, err.message);
    cr_assert_null(c);
    cr_assert(strstr(err.message, said), "said: %s", err.message);
    clv_arena_free(arena);
}

Test(bad_clusters, a_folder_in_place_of_a_file)
{
    fails(TEST_SOURCE_DIR "/configs", CONFIGS, CLV_EIO, "is not a regular file");
}

Test(bad_clusters, a_file_that_is_not_there)
{
    fails("/nowhere/x.json", CONFIGS, CLV_EIO, "could not open /nowhere/x.json");
}

Test(bad_clusters, an_unknown_name_is_answered_with_the_known_ones)
{
    fails(
        "dgx-h1000", CONFIGS, CLV_EUSAGE,
        "'dgx-h1000' is no known cluster; did you mean 'dgx-h100'? known are ascend-910b-8, cpu-2");
    fails("dhx-g100", CONFIGS, CLV_EUSAGE, "did you mean 'dgx-h100'? known");
    fails("nowhere", CONFIGS, CLV_EUSAGE, "'nowhere' is no known cluster; known are ascend");
    fails("dgx-h1000", CONFIGS, CLV_EUSAGE, "looked in " CONFIGS "/clusters");
    fails("dgx-h1000", "/nowhere:/not/there", CLV_EUSAGE,
          "none (looked in /nowhere/clusters and /not/there/clusters)");
    fails("dgx-h1000", NULL, CLV_EUSAGE, "none (looked in no folder)");
    fails("", CONFIGS, CLV_EUSAGE, "'' is no known cluster");
    fails("..", CONFIGS, CLV_EUSAGE, "'..' is no known cluster");
}

/* What does not fit leaves a sign, and never the end of the sentence. */
Test(bad_clusters, long_folders_and_names_are_cut_with_a_sign)
{
    char folder[400] = "/", name[100], both[2 * sizeof folder];
    memset(folder + 1, 'f', 90);
    snprintf(both, sizeof both, "%s:" CONFIGS, folder);
    fails("nowhere", both, CLV_EUSAGE, "/clusters and " CONFIGS "/clusters)");
    memset(folder + 1, 'f', sizeof folder - 2);
    snprintf(both, sizeof both, "%s:" CONFIGS, folder);
    fails("nowhere", both, CLV_EUSAGE, "ffff...)");
    fails("nowhere", both, CLV_EUSAGE, "known are ascend-910b-8, ");
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    fails(name, CONFIGS, CLV_EUSAGE, "nnnn...' is no known cluster; known are ascend");
}

Test(bad_clusters, an_endless_file_is_not_read)
{
    fails("/dev/zero", CONFIGS, CLV_EIO, "is not a regular file");
}

/* The folder's own order is any; the message is in byte order and stops at 64. */
Test(bad_clusters, of_many_known_names_the_first_are_listed)
{
    char root[] = "/tmp/cleave-test-XXXXXX", path[128];
    cr_assert(mkdtemp(root));
    snprintf(path, sizeof path, "%s/clusters", root);
    mkdir(path, 0700);
    for (int i = 199; i >= 0; i--) {
        snprintf(path, sizeof path, "%s/clusters/c%03d.json", root, i * 7 % 200);
        FILE *f = fopen(path, "w");
        fclose(f);
    }
    fails("other", root, CLV_EUSAGE, "known are c000, c001, c002, c003, c004, c005");
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof path, "%s/clusters/c%03d.json", root, i);
        remove(path);
    }
    snprintf(path, sizeof path, "%s/clusters", root);
    rmdir(path);
    rmdir(root);
}
