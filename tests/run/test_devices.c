/* test_devices.c - lowered folders: stages, devices that exchange tensors, and folders that were
 * damaged. The manifests are written by hand. */
#include <inttypes.h>
#include <stdarg.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "run/made.h"

TestSuite(devices, .init = set_up, .fini = tear_down, .timeout = 60);

/* -- making folders -- */

static char manifest[16384];
static size_t n_manifest;

__attribute__((format(printf, 1, 2))) static void add(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(manifest + n_manifest, sizeof manifest - n_manifest, fmt, args);
    va_end(args);
    cr_assert(n >= 0 && (size_t)n < sizeof manifest - n_manifest);
    n_manifest += (size_t)n;
}

static void begin(const char *form)
{
    n_manifest = 0;
    add("{\"schema_version\": 1, \"form\": \"%s\", \"dialect\": \"ort\", "
        "\"model\": {\"name\": \"m.onnx\", \"fingerprint\": \"0000000000000000\"}, ",
        form);
}

static void end(void)
{
    add(", \"transfers\": [], \"notes\": []}");
    file_write(folder, "manifest.json", manifest, n_manifest);
}

/* A device's model: x of these dims goes through one collective to y; attributes "axis" and
 * "group_size" where they are not 0. */
static void device(int rank, const char *op, const char *in_dims, const char *out_dims, int axis,
                   int size)
{
    char name[40];
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, "x", FLOAT, in_dims);
    test_node *node = onnx_node(g, op, "all", "x", "s");
    onnx_node_domain(g, node, "com.microsoft", NULL);
    if (strcmp(op, "AllGather") == 0)
        onnx_attr_int(g, node, "axis", axis);
    if (size)
        onnx_attr_int(g, node, "group_size", size);
    onnx_node(g, "Neg", "neg", "s", "y");
    onnx_output(g, "y", FLOAT, out_dims);
    snprintf(name, sizeof name, "gpu%d.onnx", rank);
    write_model(m, name);
}

/* The models of n devices: device i takes row i of x[n, width], or of rows of these widths; and y
 * is that of `of`. */
static void folder_of(int n, int width, const char *dims, int of, const char *collectives)
{
    begin("devices");
    add("\"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"dims\": [%d, %d]}], ", n, width);
    add("\"outputs\": [{\"name\": \"y\", \"dtype\": \"float32\", \"dims\": %s, \"pieces\": "
        "[{\"model\": %d, \"name\": \"y\"}]}], \"models\": [",
        dims, of);
    for (int i = 0; i < n; i++)
        add("%s{\"file\": \"gpu%d.onnx\", \"stage\": 0, \"device\": \"gpu%d\", \"inputs\": "
            "[{\"name\": \"x\", \"from\": \"model\", \"tensor\": \"x\", \"part\": {\"offsets\": "
            "[%d, 0], \"dims\": [1, %d]}}], \"outputs\": [{\"name\": \"y\"}]}",
            i ? ", " : "", i, i, i, width);
    add("], \"collectives\": [%s], \"files\": []", collectives);
    end();
}

#define GROUPS(groups)                                                                             \
    "{\"node\": \"all\", \"kind\": \"any\", \"reduce\": \"sum\", \"groups\": " groups              \
    ", \"bytes\": 8}"

static void gives(const char *list)
{
    run_result r = cleave_run(0, "run . -i x=x.npy -o out --format npy");
    run_free(&r);
    holds("out/output_0.npy", list);
}

/* -- collectives -- */

Test(devices, all_reduce_sums_over_all)
{
    save_npy("x.npy", "float32", "[[1, 2], [10, 20], [100, 200]]");
    for (int i = 0; i < 3; i++)
        device(i, "AllReduce", "1,2", "1,2", 0, 0);
    for (int of = 0; of < 3; of++) {
        folder_of(3, 2, "[1, 2]", of, GROUPS("[[0, 1, 2]]"));
        gives("[[-111, -222]]");
    }
    run_result r = cleave_run(0, "run . -i x=x.npy -o out --format npy --pipeline 100");
    run_free(&r);
    holds("out/output_0.npy", "[[-111, -222]]");
}

/* x sigmoid(x), which the runtime fuses into an operator of a domain that collectives have too. */
Test(devices, without_collectives_they_are_optimised_as_asked)
{
    save_npy("x.npy", "float32", "[[100, 200], [300, 400]]");
    for (int i = 0; i < 2; i++) {
        char name[40];
        test_onnx *m = new_model();
        test_graph *g = onnx_main(m);
        onnx_input(g, "x", FLOAT, "1,2");
        onnx_node(g, "Sigmoid", "gate", "x", "s");
        onnx_node(g, "Mul", "gated", "x,s", "y");
        onnx_output(g, "y", FLOAT, "1,2");
        snprintf(name, sizeof name, "gpu%d.onnx", i);
        write_model(m, name);
    }
    folder_of(2, 2, "[1, 2]", 1, "");
    run_result r = cleave_run(0, "run . -i x=x.npy -o out --format npy --optimize all");
    run_free(&r);
    holds("out/output_0.npy", "[[300, 400]]");
}

Test(devices, a_device_optimised_as_asked_still_exchanges)
{
    save_npy("x.npy", "float32", "[[1, 2], [10, 20]]");
    for (int i = 0; i < 2; i++)
        device(i, "AllReduce", "1,2", "1,2", 0, 0);
    folder_of(2, 2, "[1, 2]", 0, GROUPS("[[0, 1]]"));
    run_result r = cleave_run(0, "run . -i x=x.npy -o out --format npy --optimize all");
    run_free(&r);
    holds("out/output_0.npy", "[[-11, -22]]");
}

Test(devices, groups_are_those_of_the_manifest)
{
    save_npy("x.npy", "float32", "[[1, 2], [10, 20], [100, 200], [1000, 2000]]");
    for (int i = 0; i < 4; i++)
        device(i, "AllReduce", "1,2", "1,2", 0, 0);
    folder_of(4, 2, "[1, 2]", 3, GROUPS("[[0, 2], [3, 1]]"));
    gives("[[-1010, -2020]]");
}

Test(devices, without_a_manifests_groups_neighbours_are_together)
{
    save_npy("x.npy", "float32", "[[1, 2], [10, 20], [100, 200], [1000, 2000]]");
    for (int i = 0; i < 4; i++)
        device(i, "AllGather", "1,2", "2,2", 0, 2);
    folder_of(4, 2, "[2, 2]", 3, "");
    gives("[[-100, -200], [-1000, -2000]]");
}

/* Members come in the order of the group, which need not be that of the devices. */
Test(devices, all_gather_goes_along_its_axis_in_the_groups_order)
{
    save_npy("x.npy", "float32", "[[1, 2], [10, 20]]");
    device(0, "AllGather", "1,2", "1,4", 1, 2);
    device(1, "AllGather", "1,2", "1,4", 1, 2);
    folder_of(2, 2, "[1, 4]", 0, GROUPS("[[1, 0]]"));
    gives("[[-10, -20, -1, -2]]");
}

Test(devices, all_to_all_gives_each_its_blocks)
{
    test_onnx *m;

    save_npy("x.npy", "float32", "[[1, 2, 3, 4], [10, 20, 30, 40]]");
    for (int i = 0; i < 2; i++) {
        char name[40];
        static const int64_t shape[] = { 4, 1 };
        m = new_model();
        test_graph *g = onnx_main(m);
        onnx_input(g, "x", FLOAT, "1,4");
        onnx_weight_ints(g, "shape", "2", shape);
        onnx_node(g, "Reshape", "col", "x,shape", "c");
        test_node *node = onnx_node(g, "AllToAll", "all", "c", "y");
        onnx_node_domain(g, node, "com.microsoft", NULL);
        onnx_attr_int(g, node, "group_size", 2);
        onnx_output(g, "y", FLOAT, "4,1");
        snprintf(name, sizeof name, "gpu%d.onnx", i);
        write_model(m, name);
    }
    folder_of(2, 4, "[4, 1]", 1, GROUPS("[[0, 1]]"));
    gives("[[3], [4], [30], [40]]");
}

static void dist(int rank, const char *operation, const char *reduce, const char *out_dims)
{
    static const int64_t pairs[] = { 0, 2, 1, 3 };
    char name[40];
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_opset(m, "trt", 1);
    onnx_input(g, "x", FLOAT, "1,2");
    test_node *node = onnx_node(g, "DistCollective", "all", "x", "y");
    onnx_node_domain(g, node, "trt", NULL);
    onnx_attr_string(g, node, "collective_operation", operation);
    onnx_attr_string(g, node, "reduce_op", reduce);
    onnx_attr_int(g, node, "group_size", 2);
    onnx_attr_int(g, node, "root", 1);
    onnx_attr_ints(g, node, "groups", 4, pairs);
    onnx_output(g, "y", FLOAT, out_dims);
    snprintf(name, sizeof name, "gpu%d.onnx", rank);
    write_model(m, name);
}

static void dist_gives(const char *operation, const char *reduce, const char *dims,
                       const char *list)
{
    char wide[20];

    snprintf(wide, sizeof wide, "%c,%c", dims[1], dims[4]);
    for (int i = 0; i < 4; i++)
        dist(i, operation, reduce, wide);
    folder_of(4, 2, dims, 2, "");
    gives(list);
}

/* Device 2 is with device 0. */
Test(devices, dist_collective_is_what_its_attributes_say)
{
    save_npy("x.npy", "float32", "[[1, 6], [10, 20], [5, 2], [7, 7]]");
    dist_gives("all_reduce", "sum", "[1, 2]", "[[6, 8]]");
    dist_gives("all_reduce", "prod", "[1, 2]", "[[5, 12]]");
    dist_gives("all_reduce", "min", "[1, 2]", "[[1, 2]]");
    dist_gives("all_reduce", "max", "[1, 2]", "[[5, 6]]");
    dist_gives("all_reduce", "avg", "[1, 2]", "[[3, 4]]");
    dist_gives("all_gather", "sum", "[2, 2]", "[[1, 6], [5, 2]]");
    dist_gives("all_gather", "none", "[2, 2]", "[[1, 6], [5, 2]]");
    dist_gives("broadcast", "sum", "[1, 2]", "[[5, 2]]");
    for (int i = 0; i < 4; i++)
        dist(i, "gather", "sum", "1,2");
    refused(65, "run . --random", "collective_operation 'gather' is not run here");
}

/* -- stages and transfers -- */

static void unary(const char *file, const char *op, const char *in, const char *out)
{
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, in, FLOAT, "2,2");
    onnx_node(g, op, "n", in, out);
    onnx_output(g, out, FLOAT, "2,2");
    write_model(m, file);
}

static void two_stages(const char *form)
{
    unary("a.onnx", "Neg", "x", "h");
    unary("b.onnx", "Abs", "g", "y");
    begin(form);
    add("\"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"dims\": [2, 2]}], "
        "\"outputs\": [{\"name\": \"y\", \"dtype\": \"float32\", \"dims\": [2, 2], \"pieces\": "
        "[{\"model\": 1, \"name\": \"y\"}]}, {\"name\": \"h\", \"dtype\": \"float32\", \"dims\": "
        "[2, 2], \"pieces\": [{\"model\": 0, \"name\": \"h\"}]}], \"models\": ["
        "{\"file\": \"a.onnx\", \"stage\": 0, \"device\": \"gpu0\", \"inputs\": [{\"name\": \"x\", "
        "\"from\": \"model\", \"tensor\": \"x\"}], \"outputs\": [{\"name\": \"h\"}]}, "
        "{\"file\": \"b.onnx\", \"stage\": 1, \"device\": \"gpu1\", \"inputs\": [{\"name\": \"g\", "
        "\"from\": 0, \"tensor\": \"h\"}], \"outputs\": [{\"name\": \"y\"}]}]");
}

Test(devices, a_stage_takes_what_another_gives)
{
    save_npy("x.npy", "float32", "[[1, 2], [3, 4]]");
    for (int i = 0; i < 2; i++) {
        two_stages(i ? "devices" : "stages");
        end();
        gives("[[1, 2], [3, 4]]");
        holds("out/output_1.npy", "[[-1, -2], [-3, -4]]");
    }
}

/* As a device or stage is left that only made what is known before the run. */
Test(devices, a_model_that_gives_nothing_is_not_run)
{
    write_model(new_model(), "none.onnx");
    save_npy("x.npy", "float32", "[[1, 2], [3, 4]]");
    unary("a.onnx", "Neg", "x", "y");
    for (int i = 0; i < 2; i++) {
        begin(i ? "devices" : "stages");
        add("\"inputs\": [{\"name\": \"x\"}], \"outputs\": [{\"name\": \"y\", \"pieces\": "
            "[{\"model\": 1, \"name\": \"y\"}]}], \"models\": ["
            "{\"file\": \"none.onnx\", \"inputs\": [], \"outputs\": []}, "
            "{\"file\": \"a.onnx\", \"inputs\": [{\"name\": \"x\", \"from\": \"model\", "
            "\"tensor\": \"x\"}], \"outputs\": [{\"name\": \"y\"}]}], \"files\": []");
        end();
        gives("[[-1, -2], [-3, -4]]");
        says(0, "run . -i x.npy --profile --pipeline 2", "none.onnx ");
    }
}

Test(devices, random_inputs_are_those_of_the_whole_model)
{
    unary("whole.onnx", "Neg", "x", "h");
    two_stages("stages");
    end();
    run_result a = cleave_run(0, "run whole.onnx --random --seed 5 -o a");
    run_result b = cleave_run(0, "run . --random --seed 5 -o b");
    cr_expect(file_same(folder, "a/output_0.pb", "b/output_1.pb"));
    run_free(&a);
    run_free(&b);
}

Test(devices, an_output_is_put_together)
{
    save_npy("x.npy", "float32", "[[1, 2], [3, 4]]");
    unary("a.onnx", "Neg", "x", "h");
    begin("emulate");
    add("\"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"dims\": [4, 1]}], "
        "\"outputs\": [{\"name\": \"y\", \"dtype\": \"float32\", \"dims\": [2, 4], \"pieces\": "
        "[{\"model\": 0, \"name\": \"h\", \"part\": {\"offsets\": [0, 0], \"dims\": [2, 2]}}, "
        "{\"model\": 0, \"name\": \"h\", \"part\": {\"offsets\": [0, 2], \"dims\": [2, 2]}}]}], "
        "\"models\": [{\"file\": \"a.onnx\", \"inputs\": [{\"name\": \"x\", \"from\": \"model\", "
        "\"tensor\": \"x\", \"part\": {\"view\": [2, 2, 1], \"offsets\": [0, 0, 0], \"dims\": "
        "[2, 2, 1]}}], \"outputs\": [{\"name\": \"h\"}]}]");
    end();
    /* the part of the input has the dims of the whole, which is not what the model wants */
    save_npy("x.npy", "float32", "[[1], [2], [3], [4]]");
    refused(65, "run . -i x=x.npy", "a.onnx: ");
    unary("a.onnx", "Neg", "x", "h");
    char *at = strstr(manifest, "[4, 1]");
    memcpy(at, "[2, 2]", 6);
    at = strstr(manifest, "\"view\": [2, 2, 1], \"offsets\": [0, 0, 0], \"dims\": [2, 2, 1]");
    memcpy(at, "\"view\": [1, 2, 2], \"offsets\": [0, 0, 0], \"dims\": [1, 2, 2]", 57);
    file_write(folder, "manifest.json", manifest, n_manifest);
    save_npy("x.npy", "float32", "[[1, 2], [3, 4]]");
    gives("[[-1, -2, -1, -2], [-3, -4, -3, -4]]");
}

/* -- what is wrong -- */

/* Two independent collectives; the order in the second device's file is the other way round. */
static void two_collectives(int rank, const char *first, const char *second)
{
    char name[40];
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);
    const char *names[] = { first, second };

    onnx_input(g, "x", FLOAT, "1,2");
    for (int i = 0; i < 2; i++) {
        const char *from = i ? "b" : "x", *to = i ? "y" : "a";
        test_node *node = onnx_node(g, "AllReduce", names[i], from, to);
        onnx_node_domain(g, node, "com.microsoft", NULL);
        if (i == 0)
            onnx_node(g, "Neg", "neg", "a", "b");
    }
    onnx_output(g, "y", FLOAT, "1,2");
    snprintf(name, sizeof name, "gpu%d.onnx", rank);
    write_model(m, name);
}

Test(devices, a_deadlock_is_found_and_named)
{
    two_collectives(0, "one", "two");
    two_collectives(1, "two", "one");
    folder_of(2, 2, "[1, 2]", 0, "");
    refused(65, "run . --random", "cannot go on: gpu0 waits for 'one', gpu1 waits for 'two'");
    two_collectives(1, "one", "two");
    run_result r = cleave_run(0, "run . --random -q");
    cr_expect_str_empty(r.out);
    run_free(&r);
}

Test(devices, shapes_that_do_not_go_together_are_named)
{
    static const int64_t wide[] = { 2, 1 };
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    device(0, "AllReduce", "1,2", "1,2", 0, 0);
    onnx_input(g, "x", FLOAT, "1,2");
    onnx_weight_ints(g, "wide", "2", wide);
    onnx_node(g, "Reshape", "r", "x,wide", "t");
    test_node *node = onnx_node(g, "AllReduce", "all", "t", "y");
    onnx_node_domain(g, node, "com.microsoft", NULL);
    onnx_output(g, "y", FLOAT, "2,1");
    write_model(m, "gpu1.onnx");
    folder_of(2, 2, "[1, 2]", 0, "");
    refused(65, "run . --random", "device 0 comes with float32[1,2], device 1 with float32[2,1]");
}

/* One device fails by itself while the other waits for it. */
Test(devices, a_device_that_fails_lets_the_others_go)
{
    static const int64_t far[] = { 9 };
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    device(0, "AllReduce", "1,2", "1,2", 0, 0);
    onnx_input(g, "x", FLOAT, "1,2");
    onnx_weight_ints(g, "far", "", far);
    onnx_node(g, "Gather", "out_of_range", "x,far", "t");
    test_node *node = onnx_node(g, "AllReduce", "all", "t", "y");
    onnx_node_domain(g, node, "com.microsoft", NULL);
    onnx_output(g, "y", FLOAT, "2");
    write_model(m, "gpu1.onnx");
    folder_of(2, 2, "[1, 2]", 0, "");
    refused(65, "run . --random", "out_of_range");
}

static void list_file(const char *name, int64_t more)
{
    size_t n = 0;
    char *bytes = file_text(folder, name, &n);
    XXH128_hash_t h = XXH3_128bits(bytes, n);

    add(", \"files\": [{\"file\": \"%s\", \"bytes\": %" PRId64 ", \"xxh3\": \"%016" PRIx64
        "%016" PRIx64 "\"}]",
        name, (int64_t)n + more, h.high64, h.low64);
    free(bytes);
}

Test(devices, a_folder_that_was_changed_by_hand_is_refused)
{
    two_stages("stages");
    list_file("b.onnx", 0);
    end();
    run_result r = cleave_run(0, "run . --random");
    run_free(&r);
    size_t n = 0;
    char *bytes = file_text(folder, "b.onnx", &n);
    bytes[n / 2] ^= 1;
    file_write(folder, "b.onnx", bytes, n);
    refused(65, "run . --random", "b.onnx was changed: its checksum is ");
    file_write(folder, "b.onnx", bytes, n - 1);
    refused(65, "run . --random", "b.onnx was changed: it has ");
    r = run_in(folder, "rm b.onnx");
    run_free(&r);
    refused(65, "run . --random", "b.onnx: No such file or directory, but the manifest lists it");
    free(bytes);
}

static void manifest_refused(const char *form, const char *was, const char *is, const char *words)
{
    two_stages(form);
    end();
    char *at = strstr(manifest, was);
    cr_assert(at && strlen(was) == strlen(is));
    memcpy(at, is, strlen(is));
    file_write(folder, "manifest.json", manifest, n_manifest);
    refused(65, "run . --random", words);
}

Test(devices, a_manifest_that_is_wrong_is_refused)
{
    manifest_refused("stages", "\"from\": 0", "\"from\": 7", "from model 7, expected another of 2");
    manifest_refused("stages", "\"from\": 0", "\"from\": 1", "from model 1, expected another of 2");
    manifest_refused("stages", "\"name\": \"g\"", "\"name\": \"q\"", "b.onnx has no input 'q'");
    manifest_refused("stages", "\"tensor\": \"h\"", "\"tensor\": \"q\"",
                     "a.onnx has no output 'q'");
    manifest_refused("stages", "\"model\": 1", "\"model\": 5", "a piece of model 5");
    manifest_refused("stages", "\"tensor\": \"x\"", "\"tensor\": \"w\"", "which has no such input");
    manifest_refused("stages", "a.onnx\"", "../../\"", "file leaves the folder");
    manifest_refused("stages", "float32", "float33", "dtype is not one of ONNX's");
    manifest_refused("stages", "\"schema_version\": 1", "\"schema_version\": 3", "schema_version");
    write_text("manifest.json", "{");
    refused(65, "run . --random", "manifest.json");
    run_result r = run_in(folder, "rm manifest.json");
    run_free(&r);
    refused(74, "run . --random", "manifest.json");
}
