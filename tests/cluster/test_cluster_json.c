#include "cluster/cluster_json.h"
#include "cluster/device_file.h"
#include "cluster/device_json.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/ops.h"

#define CONFIGS TEST_SOURCE_DIR "/configs"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(cluster_json, .init = open_arena, .fini = close_arena);

/* clang-format off */
#define V(x) "{\"value\": " x ", \"source\": \"made up for a test\"}"
#define KIND(n)                                                                                    \
    "{\"version\": 1, \"name\": \"" n "\", \"vendor\": \"us\", "                                   \
    "\"memory\": " V("\"1GiB\"") ", \"reserved\": " V("\"1MiB\"") ", "                             \
    "\"memory_bandwidth\": " V("\"100GB/s\"") ", "                                                 \
    "\"matrix\": {\"FLOAT\": " V("\"1TFLOP/s\"") "}, "                                             \
    "\"vector\": {\"FLOAT\": " V("\"1TFLOP/s\"") "}, "                                             \
    "\"efficiency\": {\"matrix\": " V("0.7") ", \"vector\": " V("0.7") ", "                         \
    "\"memory\": " V("1") "}, "                                                                    \
    "\"launch\": " V("\"4us\"") ", \"workspace_proportion\": " V("0.6") "}"
#define CLUSTER(n, rest)                                                                           \
    "{\"version\": 1, \"name\": \"c\", \"devices\": [{\"kind\": " KIND("toy") ", "                 \
    "\"count\": " n ", \"name\": \"d\"}]" rest "}"
/* clang-format on */

static clv_cluster *parse(const char *text)
{
    clv_cluster *c = NULL;
    clv_error err = { 0 };
    clv_status s = clv_cluster_parse(
        &(clv_cluster_source){ text, strlen(text), "test.json", NULL, NULL }, arena, &c, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    return c;
}

Test(cluster_json, reads_a_cluster_with_its_kind_inside)
{
    clv_cluster *c =
        parse(CLUSTER("2", ", \"levels\": [{\"name\": \"wire\", \"size\": 2, \"bandwidth\": " V(
                               "\"1GB/s\"") ", \"latency\": " V("\"5us\"") "}]"));
    cr_assert_str_eq(c->name, "c");
    cr_assert(c->n_devices == 2 && c->n_kinds == 1);
    cr_assert_str_eq(c->devices[1].name, "d1");
    const clv_device_kind *k = clv_device_kind_of(c, 1);
    cr_assert_str_eq(k->name, "toy");
    cr_assert_str_eq(k->vendor, "us");
    cr_assert_eq(k->memory_bytes, 1 << 30);
    cr_assert_eq(k->reserved_bytes, 1 << 20);
    cr_assert_eq(k->memory_bytes_per_s, 1e11);
    cr_assert_eq(k->matrix_per_s[CLV_DT_FLOAT], 1e12);
    cr_assert_eq(k->vector_per_s[CLV_DT_FLOAT], 1e12);
    cr_assert_eq(k->matrix_per_s[CLV_DT_FLOAT16], 0);
    cr_assert(k->matrix_efficiency == 0.7 && k->memory_efficiency == 1);
    cr_assert_eq(k->launch_ns, 4000);
    cr_assert_eq(k->workspace_proportion, 0.6);
    cr_assert_eq(k->tiles, 1);
    cr_assert_eq(clv_transfer_ns(c, 0, 1, 1000), 5000 + 1000); /* 1000 B at 1 GB/s: 1 us */
}

Test(cluster_json, one_device_needs_nothing_to_join_it)
{
    clv_cluster *c = parse(CLUSTER("1", ""));
    cr_assert(c->n_devices == 1 && c->n_ports == 0);
    cr_assert_str_eq(c->devices[0].name, "d0");
    parse(CLUSTER("1", ", \"links\": []"));
    parse(CLUSTER("1", ", \"levels\": []"));
}

Test(cluster_json, a_device_without_a_count_has_just_its_name)
{
    clv_cluster *c = parse("{\"version\": 1, \"name\": \"c\", \"devices\": [{\"kind\": " KIND(
        "toy") ", \"name\": \"host\"}]}");
    cr_assert_str_eq(c->devices[0].name, "host");
}

Test(cluster_json, a_device_file_is_read_alone)
{
    clv_device_kind k = { 0 };
    const char *text = KIND("alone");
    cr_assert_eq(clv_device_parse(text, strlen(text), "alone.json", arena, &k, NULL), CLV_OK);
    cr_assert_str_eq(k.name, "alone");
    clv_error err = { 0 };
    cr_assert_eq(clv_device_parse("{}", 2, "alone.json", arena, &k, &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "alone.json has no key 'version', which is required");
    cr_assert_str_eq(k.name, "alone", "untouched");
}

Test(cluster_json, a_device_may_say_who_runs_models_on_it)
{
    const char *kind = KIND("some");
    const char *const given[] = { "\"onnxruntime\"", "\"\"", "3" };
    for (int i = 0; i < 3; i++) {
        clv_device_kind k = { 0 };
        clv_error err = { 0 };
        char text[4096];
        snprintf(text, sizeof text, "%.*s, \"runtime\": %s}", (int)strlen(kind) - 1, kind,
                 given[i]);
        clv_status s = clv_device_parse(text, strlen(text), "some.json", arena, &k, &err);
        cr_expect_eq(s, i == 0 ? CLV_OK : CLV_EFORMAT, "%s", given[i]);
        if (i == 0)
            cr_expect_str_eq(k.runtime, "onnxruntime");
        else
            cr_expect(strstr(err.message, "runtime"), "%s", err.message);
    }
}

static clv_status parse_host(const char *host, clv_link_speed *ret, clv_error *err)
{
    const char *kind = KIND("some");
    clv_device_kind k = { 0 };
    char text[4096];
    snprintf(text, sizeof text, "%.*s, \"host\": %s}", (int)strlen(kind) - 1, kind, host);
    clv_status status = clv_device_parse(text, strlen(text), "some.json", arena, &k, err);
    *ret = k.host;
    return status;
}

Test(cluster_json, a_device_may_say_how_it_is_joined_to_its_host)
{
    clv_link_speed link;
    clv_error err = { 0 };
    cr_assert_eq(parse_host("{\"bandwidth\": " V("\"25GB/s\"") ", \"latency\": " V("\"7us\"") "}",
                            &link, &err),
                 CLV_OK, "%s", err.message);
    cr_expect(link.peak_bytes_per_s == 25e9 && link.latency_ns == 7000);
    cr_expect_eq(parse_host("{\"bandwidth\": " V("\"25GB/s\"") "}", &link, &err), CLV_EFORMAT);
    cr_expect_str_eq(err.message, "some.json: host has no key 'latency', which is required");
    cr_expect_eq(link.peak_bytes_per_s, 0, "untouched");
}

/* -- what the efficiencies rest on -- */

static clv_basis basis_of(const char *matrix, const char *vector, const char *memory)
{
    char text[4096], efficiency[600];
    const char *kind = KIND("some"), *from = strstr(kind, "\"efficiency\""),
               *to = strstr(kind, "\"launch\"");
    clv_device_kind k = { 0 };
    clv_error err = { 0 };
    snprintf(efficiency, sizeof efficiency,
             "\"efficiency\": {\"matrix\": {\"value\": 0.7, \"source\": \"%s\"}, "
             "\"vector\": {\"value\": 0.7, \"source\": \"%s\"}, "
             "\"memory\": {\"value\": 0.7, \"source\": \"%s\"}}, ",
             matrix, vector, memory);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(from - kind), kind, efficiency, to);
    cr_assert_eq(clv_device_parse(text, strlen(text), "some.json", arena, &k, &err), CLV_OK, "%s",
                 err.message);
    return k.basis;
}

/* The least of them: one that is assumed is enough. */
Test(cluster_json, a_source_says_what_an_efficiency_rests_on)
{
    static const char *const fitted[] = { "measured by cleave calibrate: products",
                                          "fitted to measured products", "measured", "fitted" };
    static const char *const assumed[] = { "assumption: not measured by us", "data sheet, measured",
                                           " measured", "Measured", "fit" };
    for (size_t i = 0; i < sizeof fitted / sizeof *fitted; i++)
        cr_expect_eq(basis_of(fitted[i], fitted[0], fitted[1]), CLV_FITTED, "%s", fitted[i]);
    for (size_t i = 0; i < sizeof assumed / sizeof *assumed; i++) {
        cr_expect_eq(basis_of(assumed[i], fitted[0], fitted[0]), CLV_ASSUMED, "%s", assumed[i]);
        cr_expect_eq(basis_of(fitted[0], assumed[i], fitted[0]), CLV_ASSUMED, "%s", assumed[i]);
        cr_expect_eq(basis_of(fitted[0], fitted[0], assumed[i]), CLV_ASSUMED, "%s", assumed[i]);
    }
}

/* Ours are as their sources say: what is calibrated here is a CPU. */
Test(cluster_json, efficiencies_that_we_ship_are_assumed)
{
    clv_device_kind k = { 0 };
    cr_assert_eq(clv_device_load("h100-sxm", CONFIGS, arena, &k, NULL), CLV_OK);
    cr_expect_eq(k.basis, CLV_ASSUMED);
    cr_expect_str_eq(k.runtime, "engine");
    cr_expect_str_eq(k.folder, CONFIGS "/devices");
    cr_assert_eq(clv_device_load("xeon-8480", CONFIGS, arena, &k, NULL), CLV_OK);
    cr_expect_null(k.runtime);
}

/* -- single operators -- */

static clv_status read_operators(const char *operators, clv_device_kind *ret, clv_error *err)
{
    const char *kind = KIND("some");
    char text[4096];

    snprintf(text, sizeof text, "%.*s, \"operators\": %s}", (int)strlen(kind) - 1, kind, operators);
    return clv_device_parse(text, strlen(text), "some.json", arena, ret, err);
}

static const clv_op_speed *speed_of(const clv_device_kind *k, const char *domain, const char *type)
{
    return &k->operators[clv_op_def_find(clv_str_of(domain), clv_str_of(type))];
}

Test(cluster_json, operators_have_speeds_of_their_own)
{
    clv_device_kind k = { 0 };
    clv_error err = { 0 };
    clv_status s =
        read_operators("{\"Softmax\": {\"efficiency\": {\"vector\": " V("0.5") "}, \"launch\": " V(
                           "\"9us\"") "}, \"com.microsoft.Attention\": {\"efficiency\": "
                                      "{\"matrix\": " V("0.25") ", \"memory\": " V("0.125") "}}, "
                                                                                            "\"Relu"
                                                                                            "\": "
                                                                                            "{}}",
                       &k, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    const clv_op_speed *softmax = speed_of(&k, "", "Softmax");
    cr_expect(softmax->vector_efficiency == 0.5 && softmax->launch_ns == 9000);
    cr_expect(softmax->matrix_efficiency == 0 && softmax->memory_efficiency == 0);
    const clv_op_speed *attention = speed_of(&k, "com.microsoft", "Attention");
    cr_expect(attention->matrix_efficiency == 0.25 && attention->memory_efficiency == 0.125);
    cr_expect_eq(attention->launch_ns, -1);
    cr_expect(speed_of(&k, "", "Relu")->launch_ns == -1 &&
              speed_of(&k, "", "Add")->launch_ns == -1);
}

Test(cluster_json, grouped_operators_may_differ_from_the_others)
{
    clv_device_kind k = { 0 };
    clv_error err = { 0 };
    const char *text = "{\"Conv/grouped\": {\"efficiency\": {\"matrix\": " V(
        "0.125") "}}, "
                 "\"Conv\": {\"efficiency\": {\"matrix\": " V("0.5") "}, "
                                                                     "\"launch\": " V(
                                                                         "\"9us\"") "}}";
    int32_t conv = clv_op_def_find((clv_str){ 0 }, clv_str_of("Conv"));

    cr_assert_eq(read_operators(text, &k, &err), CLV_OK, "%s", err.message);
    const clv_op_speed *plain = &k.operators[clv_speed_of(conv, CLV_SPEED_PLAIN)];
    const clv_op_speed *grouped = &k.operators[clv_speed_of(conv, CLV_SPEED_GROUPED)];
    cr_expect(plain->matrix_efficiency == 0.5 && plain->launch_ns == 9000);
    cr_expect(grouped->matrix_efficiency == 0.125 && grouped->launch_ns == 9000);
    cr_expect(k.operators[clv_speed_of(conv, CLV_SPEED_DEPTHWISE)].matrix_efficiency == 0.125);
}

Test(cluster_json, names_of_speeds_are_found_again)
{
    char name[CLV_SPEED_NAME_SIZE];

    for (int32_t i = 0; i < clv_n_speeds(); i++)
        cr_expect_eq(clv_speed_find(clv_speed_name(i, name)), i, "%s", name);
    cr_expect_eq(clv_speed_find("/grouped"), -1);
    cr_expect_eq(clv_speed_find("Conv/group"), -1);
    cr_expect_eq(clv_speed_find("Conv/"), -1);
    cr_expect_eq(clv_speed_find(""), -1);
}

static void refused(const char *operators, const char *words)
{
    clv_device_kind k = { 0 };
    clv_error err = { 0 };

    cr_assert_eq(read_operators(operators, &k, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, words), "%s", err.message);
}

Test(cluster_json, bad_operators_are_reported)
{
    refused("{\"Softmacks\": {}}", "operators has the unknown key 'Softmacks', expected operators");
    refused("{\"com.nobody.Softmax\": {}}", "unknown key 'com.nobody.Softmax'");
    refused("{\"Softmax\": {\"speed\": 1}}", "operators.Softmax has the unknown key 'speed'");
    refused("{\"Softmax\": {\"efficiency\": {\"disk\": 1}}}", "unknown key 'disk'");
    refused("{\"Softmax\": {\"efficiency\": {\"vector\": " V("1.5") "}}}", "1.5");
    refused("{\"Softmax\": {\"efficiency\": {\"vector\": {\"value\": 0.5}}}}", "source");
    refused("{\"Softmax\": {\"launch\": " V("\"-1us\"") "}}", "launch");
    refused("{\"Softmax\": 3}", "operators.Softmax");
    refused("3", "operators");
}

/* -- where files are looked for -- */

Test(cluster_json, a_kind_beside_the_cluster_comes_before_the_configs_path)
{
    char folder[] = "/tmp/cleave-test-XXXXXX", path[64];
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/h100-sxm.json", folder);
    FILE *f = fopen(path, "w");
    fputs(KIND("mine"), f);
    fclose(f);
    const char *text = "{\"version\": 1, \"name\": \"c\", \"devices\": [{\"kind\": \"h100-sxm\", "
                       "\"name\": \"x\"}]}";
    clv_cluster *c = NULL;

    clv_status beside = clv_cluster_parse(
        &(clv_cluster_source){ text, strlen(text), "t", folder, CONFIGS }, arena, &c, NULL);
    cr_assert_eq(beside, CLV_OK);
    cr_assert_str_eq(c->kinds[0].name, "mine");
    clv_status path_only = clv_cluster_parse(
        &(clv_cluster_source){ text, strlen(text), "t", NULL, ":/nowhere::" CONFIGS }, arena, &c,
        NULL);
    cr_assert_eq(path_only, CLV_OK);
    cr_assert_str_eq(c->kinds[0].name, "h100-sxm");
    remove(path);
    rmdir(folder);
}

Test(cluster_json, a_kind_named_twice_is_read_once)
{
    const char *text =
        "{\"version\": 1, \"name\": \"c\", \"devices\": [{\"kind\": \"l40s\", \"name\": "
        "\"a\"}, {\"kind\": \"h100-pcie\", \"name\": \"b\"}, {\"kind\": \"l40s\", "
        "\"name\": \"c\"}], \"levels\": [{\"name\": \"w\", \"size\": 3, \"bandwidth\": " V(
            "\"1GB/s\"") ", \"latency\": " V("\"0ns\"") "}]}";
    clv_cluster *c = NULL;
    cr_assert_eq(clv_cluster_parse(&(clv_cluster_source){ text, strlen(text), "t", NULL, CONFIGS },
                                   arena, &c, NULL),
                 CLV_OK);
    cr_assert_eq(c->n_kinds, 2);
    cr_assert_eq(c->devices[0].kind, c->devices[2].kind);
    cr_assert_neq(c->devices[0].kind, c->devices[1].kind);
}

Test(cluster_json, a_path_is_read_where_it_stands)
{
    clv_cluster *c = NULL;
    cr_assert_eq(clv_cluster_load(CONFIGS "/clusters/cpu-2.json", CONFIGS, arena, &c, NULL),
                 CLV_OK);
    cr_assert_str_eq(c->name, "cpu-2");
}

/* -- what we ship -- */

static int each_json(const char *folder, void (*check)(const char *name, const char *path))
{
    DIR *dir = opendir(folder);
    int n = 0;
    cr_assert(dir, "%s", folder);
    for (struct dirent *e; (e = readdir(dir));) {
        char name[256], path[4096];
        size_t len = strlen(e->d_name);
        if (len <= 5 || strcmp(e->d_name + len - 5, ".json") != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(len - 5), e->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        check(name, path);
        n++;
    }
    closedir(dir);
    return n;
}

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = malloc(1 << 20);
    cr_assert(f, "%s", path);
    *n = fread(text, 1, 1 << 20, f);
    fclose(f);
    return text;
}

static void check_device(const char *name, const char *path)
{
    size_t n;
    char *text = read_file(path, &n);
    clv_device_kind k = { 0 };
    clv_error err = { 0 };
    clv_status s = clv_device_parse(text, n, path, arena, &k, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    cr_assert_str_eq(k.name, name);
    cr_assert_geq(k.matrix_per_s[CLV_DT_FLOAT], k.vector_per_s[CLV_DT_FLOAT] * 0.99);
    free(text);
}

static void check_cluster(const char *name, const char *path)
{
    clv_cluster *c = NULL;
    clv_error err = { 0 };
    clv_status s = clv_cluster_load(name, CONFIGS, arena, &c, &err);
    cr_assert_eq(s, CLV_OK, "%s: %s", path, err.message);
    cr_assert_str_eq(c->name, name);
    cr_assert_geq(c->n_devices, 2);
    for (int32_t a = 0; a < c->n_devices; a++)
        for (int32_t b = 0; b < c->n_devices; b++)
            cr_assert_eq(clv_transfer_ns(c, a, b, 1 << 20), clv_transfer_ns(c, b, a, 1 << 20),
                         "%s: ours are the same both ways", name);
}

Test(cluster_json, every_device_we_ship_is_valid)
{
    cr_assert_geq(each_json(CONFIGS "/devices", check_device), 12);
}

Test(cluster_json, every_cluster_we_ship_is_valid)
{
    cr_assert_geq(each_json(CONFIGS "/clusters", check_cluster), 15);
}

/* The example of docs/formats/cluster.md: every block of json is run. */
Test(cluster_json, the_examples_of_the_manual_work)
{
    size_t n;
    char *text = read_file(TEST_SOURCE_DIR "/docs/formats/cluster.md", &n);
    int devices = 0, clusters = 0;
    text[n] = 0;
    for (char *at = text; (at = strstr(at, "```json\n"));) {
        char *from = at + 8, *end = strstr(from, "```");
        clv_device_kind k;
        clv_cluster *c = NULL;
        clv_error err = { 0 };
        cr_assert(end);
        *end = 0;
        bool device = strstr(from, "\"vendor\"") && !strstr(from, "\"devices\"");
        clv_status s =
            device ? clv_device_parse(from, (size_t)(end - from), "cluster.md", arena, &k, &err)
                   : clv_cluster_parse(&(clv_cluster_source){ from, (size_t)(end - from),
                                                              "cluster.md", NULL, CONFIGS },
                                       arena, &c, &err);
        cr_assert_eq(s, CLV_OK, "%s", err.message);
        devices += device;
        clusters += !device;
        at = end + 3;
    }
    cr_assert(devices >= 1 && clusters >= 2, "%d devices, %d clusters", devices, clusters);
    free(text);
}

/* -- size -- */

Test(cluster_json, a_thousand_devices_are_read_in_no_time)
{
    clv_cluster *c =
        parse(CLUSTER("1024", ", \"levels\": [{\"name\": \"in\", \"size\": 8, "
                              "\"bandwidth\": " V("\"1GB/s\"") ", \"latency\": " V(
                                  "\"1us\"") "}, {\"name\": \"out\", \"size\": 128, "
                                             "\"bandwidth\": " V("\"1GB/s\"") ", "
                                                                              "\"latency\":"
                                                                              " " V("\"9us"
                                                                                    "\"") "}]"));
    cr_assert_eq(c->n_devices, 1024);
    cr_assert_eq(clv_route_between(c, 8, 15)->latency_ns, 1000);
    cr_assert_eq(clv_route_between(c, 7, 8)->latency_ns, 9000);
    cr_assert_eq(clv_route_between(c, 0, 1023)->latency_ns, 9000);
    cr_assert_lt(clv_arena_bytes(arena), (size_t)80 << 20);
}

Test(cluster_json, survives_running_out_of_memory_anywhere)
{
    const char *const text[] = {
        CLUSTER("3", ", \"levels\": [{\"name\": \"w\", \"size\": 3, \"bandwidth\": " V(
                         "\"1GB/s\"") ", \"latency\": " V("\"0ns\"") "}]"),
        CLUSTER("2", ", \"links\": [{\"name\": \"w\", \"from\": 0, \"to\": 1, \"bandwidth\": " V(
                         "\"1GB/s\"") ", \"latency\": " V("\"0ns\"") ", \"both_ways\": true}]"),
        "{\"version\": 1, \"name\": \"c\", \"devices\": [{\"kind\": \"l40s\", \"name\": \"a\"}]}",
    };
    for (int i = 0; i < 3; i++) {
        clv_status s = CLV_ENOMEM;
        int failures = 0;
        for (size_t limit = 1; s != CLV_OK; limit += 32) {
            clv_arena *small = clv_arena_new(NULL, limit);
            clv_cluster *c = NULL;
            clv_error err = { 0 };
            s = clv_cluster_parse(
                &(clv_cluster_source){ text[i], strlen(text[i]), "t", NULL, CONFIGS }, small, &c,
                &err);
            cr_assert(s == CLV_OK || (s == CLV_ENOMEM && !c), "%d: %s", (int)s, err.message);
            failures += s != CLV_OK;
            clv_arena_free(small);
        }
        cr_assert_gt(failures, 3);
    }
}
