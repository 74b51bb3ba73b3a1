/* test_clusters.c - cleave clusters: which there are, what joins their devices, what is known. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"
#include "support/run.h"

static char *folder;

static void set_up(void)
{
    folder = folder_new();
    run_result r =
        run_in(folder, "mkdir -p own/clusters && cp %s/configs/clusters/dgx-h200.json own/clusters",
               TEST_SOURCE_DIR);
    run_free(&r);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(clusters, .init = set_up, .fini = tear_down);

static char *says(int code, const char *line)
{
    run_result r = run_in(folder, "%s clusters %s", TEST_CLEAVE, line);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", line, r.code, r.out, r.err);
    free(code ? r.out : r.err);
    return code ? r.err : r.out;
}

static void expect_in(const char *line, int code, const char *words)
{
    char *out = says(code, line);
    cr_expect(strstr(out, words), "'%s' does not say '%s': %s", line, words, out);
    free(out);
}

Test(clusters, a_list_has_devices_and_what_joins_them)
{
    expect_in("", 0, "\ndgx-h100-x2    16 h100-sxm       80GB  nvlink                  8   450");
    expect_in("", 0, "\n                                       infiniband             16    50");
    expect_in("", 0, "\nh100-l40s       2 h100-pcie      80GB  nvlink-bridge      1 pair   300");
    expect_in("", 0, "4 pairs    32      8us\n");
    expect_in("", 0, "h100-sxm     NVIDIA       80GB     65.4 GiB   3350  494.7   989.4   1979\n");
    char *out = says(0, "");
    cr_expect_leq(text_width(out), 80, "%s", out);
    free(out);
}

/* Every file of configs/clusters is there, in the order of names, and twice the same. */
Test(clusters, the_list_is_whole_and_sorted)
{
    char *out = says(0, "--json | python3 -c 'import json, os, sys; "
                        "names = [c[\"name\"] for c in json.load(sys.stdin)[\"clusters\"]]; "
                        "files = os.listdir(\"" TEST_SOURCE_DIR "/configs/clusters\"); "
                        "print(names == sorted(f[:-5] for f in files))'");
    cr_expect_str_eq(out, "True\n");
    free(out);
    char *one = says(0, ""), *two = says(0, "");
    cr_expect_str_eq(one, two);
    free(one);
    free(two);
}

Test(clusters, one_is_shown_with_the_sources_of_its_numbers)
{
    expect_in("dgx-h100", 0, "dgx-h100: 8 devices, gpu0 to gpu7\nfile: ");
    expect_in("dgx-h100", 0,
              "\nlink nvlink\n  bandwidth                       450GB/s\n"
              "      NVIDIA H100 Tensor Core GPU data sheet (2023): NVLink");
    expect_in("dgx-h100", 0, "\n  matrix FLOAT16                  989.4TFLOP/s\n");
    expect_in("dgx-h100", 0, "\n  measured times                  ");
    expect_in(TEST_SOURCE_DIR "/configs/clusters/cpu-2.json", 0, "cpu-2: 2 devices, cpu0 to cpu1");
    char *out = says(0, "dgx-h100");
    cr_expect(!strstr(out, "dgx-h200"), "%s", out);
    free(out);
}

/* As many values in the answer as the files have sources. */
Test(clusters, no_number_is_without_its_source)
{
    char *out = says(0, "dgx-h100-x2 --json | python3 -c 'import json, sys; "
                        "o = json.load(sys.stdin); "
                        "n = sum(len(k[\"numbers\"]) for k in o[\"kinds\"]) "
                        "  + sum(len(l[\"numbers\"]) for l in o[\"clusters\"][0][\"links\"]); "
                        "t = sum(x[\"name\"] == \"measured times\" "
                        "  for x in o[\"kinds\"][0][\"numbers\"]); "
                        "c = \"" TEST_SOURCE_DIR "/configs/\"; "
                        "s = sum(open(c + f).read().count(\"\\\"source\\\"\") for f in "
                        "  [\"clusters/dgx-h100-x2.json\", \"devices/h100-sxm.json\"]); "
                        "print(n - t == s, t)'");
    cr_expect_str_eq(out, "True 2\n");
    free(out);
}

Test(clusters, json_is_as_the_schema_says)
{
    static const char *const lines[] = { "", "dgx-h100-x2", "h100-l40s", "tpu-v5e-16",
                                         "--configs own:" TEST_SOURCE_DIR "/configs" };
    file_write(folder, "own/clusters/bad.json", "{", 1);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        run_result r = run_in(folder, "%s clusters --json %s > c.json", TEST_CLEAVE, lines[i]);
        cr_expect_eq(r.code, 0, "%s", r.err);
        run_free(&r);
        run_is_valid(folder, "clusters", "c.json");
    }
}

Test(clusters, what_is_not_valid_does_not_hide_the_others)
{
    const char *configs = "--configs own:" TEST_SOURCE_DIR "/configs";
    file_write(folder, "own/clusters/bad.json", "{\"a\":1}", 7);
    file_write(folder, "own/clusters/no name.json", "{\"a\":1}", 7);
    file_write(folder, "own/clusters/notes.txt", "x", 1);
    expect_in(configs, 0, "\nnot valid: 1\n  own/clusters/bad.json has the unknown key 'a'");
    expect_in(configs, 0, "\ndgx-h200        8 h200");
    expect_in("--configs own", 0, "not valid: 2\n");
    expect_in("--configs own bad", 65, "own/clusters/bad.json has the unknown key 'a'");
}

/* Links that are alike are one, with each source once; a link of one direction is another. */
Test(clusters, links_that_are_alike_are_counted)
{
    static const char link[] = "{ \"name\": \"wire\", \"from\": %d, \"to\": %d, \"both_ways\": %s, "
                               "\"bandwidth\": { \"value\": \"8Gb/s\", \"source\": \"%s\" }, "
                               "\"latency\": { \"value\": \"5us\", \"source\": \"b\" } }";
    char text[2000];
    int n = snprintf(text, sizeof text,
                     "{ \"version\": 1, \"name\": \"ring\", \"devices\": [ { \"kind\": \"l40s\", "
                     "\"count\": 3, \"name\": \"d\" } ], \"links\": [ ");
    n += snprintf(text + n, sizeof text - (size_t)n, link, 0, 1, "true", "a");
    n += snprintf(text + n, sizeof text - (size_t)n, ", ");
    n += snprintf(text + n, sizeof text - (size_t)n, link, 1, 2, "true", "c");
    n += snprintf(text + n, sizeof text - (size_t)n, ", ");
    n += snprintf(text + n, sizeof text - (size_t)n, link, 2, 0, "false", "a");
    n += snprintf(text + n, sizeof text - (size_t)n, " ] }");
    file_write(folder, "ring.json", text, (size_t)n);
    expect_in("./ring.json", 0,
              "ring      3 l40s    48GB  wire  2 pairs     1      5us\n"
              "                          wire    1 way     1      5us\n");
    expect_in("./ring.json", 0,
              "\nlink wire\n"
              "  bandwidth                       8Gb/s\n      a\n"
              "  latency                         5us\n      b\n"
              "  bandwidth                       8Gb/s\n      c\n");
}

Test(clusters, wrong_requests)
{
    expect_in("dgx-h10", 2, "'dgx-h10' is no known cluster; did you mean 'dgx-h100'?");
    expect_in("a b", 2, "'b' is one cluster too many");
    expect_in("--configs nowhere", 2, "there is no cluster in nowhere/clusters, expected files");
    expect_in("./missing.json", 74, "./missing.json");
    char *out = says(0, "--quiet");
    cr_expect_str_eq(out, "");
    free(out);
}

Test(clusters, from_the_library)
{
    cleave_report *report = NULL;
    cleave_error error;
    cleave_clusters_options o;
    cleave_clusters_options_init(&o);
    o.configs_path = TEST_SOURCE_DIR "/configs";
    o.cluster = "ipu-pod4";
    cr_assert_eq(cleave_clusters(&o, NULL, &report, &error), CLEAVE_OK, "%s", error.message);
    cr_expect(strstr(cleave_report_text(report), "ipu-pod4: 4 devices"));
    cr_expect(strstr(cleave_report_json(report, NULL), "\"ipu-gc200\""));
    cleave_report_free(report);
    o.cluster = "nowhere";
    cr_expect_eq(cleave_clusters(&o, NULL, &report, &error), CLEAVE_EUSAGE);
}
