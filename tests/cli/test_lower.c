/* test_lower.c - cleave lower: every form is as its manifest says and computes the same; bad input
 * is one sentence, and leaves nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/onnx_builder.h"
#include "support/run.h"

#define MODEL TEST_SOURCE_DIR "/docs/examples/two_products.onnx"
#define RULES TEST_SOURCE_DIR "/docs/examples/two_products.rules.json"
#define RUN   TEST_CLEAVE "-run"

static char *folder;

/* A shell line that has to end well; its output. */
static char *does(const char *line)
{
    run_result r = run_in(folder, "%s", line);
    cr_assert_eq(r.code, 0, "'%s' gave %d: %s%s", line, r.code, r.out, r.err);
    free(r.err);
    return r.out;
}

static void cleave(const char *arguments)
{
    run_result r = run_in(folder, TEST_CLEAVE " %s", arguments);
    cr_assert_eq(r.code, 0, "'%s' gave %d: %s%s", arguments, r.code, r.out, r.err);
    run_free(&r);
}

/* m.onnx is y = (x w) v, of whole numbers; split.json splits both products over two devices,
 * stages.json has one in each of two stages. */
static void set_up(void)
{
    folder = folder_new();
    free(does("cp " MODEL " m.onnx"));
    cleave("plan -q --devices 2 --mesh 2 --constraints " RULES " --no-output --plan-out split.json "
           "m.onnx");
    cleave("plan -q --devices 2 --max-tp 1 --stages 2 --no-output --plan-out stages.json m.onnx");
}

static void tear_down(void) { folder_free(folder); }

TestSuite(lower, .init = set_up, .fini = tear_down);

/* It is refused with these words and that code, and nothing is written. */
static void refused(int code, const char *arguments, const char *words)
{
    int n = folder_count(folder);
    run_refused(folder, code, "lower", arguments, words);
    cr_expect_eq(folder_count(folder), n, "'%s' left something", arguments);
}

/* -- what is written -- */

static const char *const lowered[][2] = {
    /* plan, options */
    { "split", "--form devices" },
    { "split", "--form devices --collectives tensorrt" },
    { "split", "--form devices --weights safetensors" },
    { "split", "--form devices --weights ranges" },
    { "split", "--form emulate" },
    { "split", "--form stages" },
    { "stages", "--form stages" },
    { "stages", "--form devices" },
    { "stages", "--form emulate" },
    { "stages", "--form ort-options" },
    { "stages", "--form olive" },
    { "stages", "--form olive --weights ranges" },
};
#define N_LOWERED (sizeof lowered / sizeof *lowered)

static void lower_all(void)
{
    for (size_t i = 0; i < N_LOWERED; i++) {
        run_result r =
            run_in(folder, TEST_CLEAVE " lower m.onnx %s.json %s -o f%zu --json > f.json",
                   lowered[i][0], lowered[i][1], i);
        cr_expect_eq(r.code, 0, "%s: %s", lowered[i][1], r.err);
        run_is_valid(folder, "lower", "f.json");
        run_free(&r);
    }
}

/* The manifest against its schema and the files, annotations against the plan: by a script that
 * knows none of our code. */
Test(lower, every_form_is_as_its_manifest_says)
{
    lower_all();
    for (size_t i = 0; i < N_LOWERED; i++) {
        run_result r =
            run_in(folder,
                   "/usr/bin/python3 " TEST_SOURCE_DIR
                   "/tests/lower/check_folder.py " TEST_SOURCE_DIR " m.onnx %s.json f%zu",
                   lowered[i][0], i);
        cr_expect_eq(r.code, 0, "%s: %s%s", lowered[i][1], r.out, r.err);
        run_free(&r);
    }
}

/* Sums of whole numbers are exact in any order, so outputs are equal to the last bit.
 * covers: E.057 D.038 */
Test(lower, every_form_computes_what_the_model_computes)
{
    if (access(RUN, X_OK) != 0)
        cr_skip_test("cleave-run is not built");
    free(does("/usr/bin/python3 -c \"import numpy; numpy.save('x.npy', "
              "numpy.arange(-12, 12, dtype=numpy.float32).reshape(4, 6))\""));
    free(does(RUN " run -q -i x=x.npy m.onnx -o want && mv want/output_0.pb want.pb"));
    lower_all();
    for (size_t i = 0; i < N_LOWERED; i++) {
        run_result r = run_in(folder,
                              RUN " run -q -i x=x.npy f%zu -o got%zu && mv "
                                  "got%zu/output_0.pb got.pb",
                              i, i, i);
        cr_expect_eq(r.code, 0, "%s: %s", lowered[i][1], r.err);
        if (r.code == 0)
            cr_expect(file_same(folder, "want.pb", "got.pb"), "%s has other numbers",
                      lowered[i][1]);
        run_free(&r);
    }
}

/* A Loop's body calls what it reads and makes as the model calls its weight, a result and its
 * output: ONNX Runtime takes that of a model where "y" comes behind the Loop. */
Test(lower, names_in_bodies_do_not_meet_those_around_them)
{
    static const char *const forms[] = { "emulate", "devices", "stages" };
    if (access(RUN, X_OK) != 0)
        cr_skip_test("cleave-run is not built");
    free(does("/usr/bin/python3 -c \"\n"
              "import numpy, onnx\n"
              "from onnx import helper as h, numpy_helper as n\n"
              "f = lambda name: h.make_tensor_value_info(name, 1, [4, 4])\n"
              "v = n.from_array(numpy.arange(16, dtype=numpy.float32).reshape(4, 4) - 8, 'w')\n"
              "w = n.from_array(numpy.eye(4, dtype=numpy.float32) * 2, 'w')\n"
              "three = n.from_array(numpy.array(3), 'three')\n"
              "body = h.make_graph([h.make_node('Identity', ['go'], ['on']),\n"
              "    h.make_node('MatMul', ['h', 'w'], ['y'])], 'b',\n"
              "    [h.make_tensor_value_info('i', 7, []), h.make_tensor_value_info('go', 9, []),\n"
              "     f('h')], [h.make_tensor_value_info('on', 9, []), f('y')], [v])\n"
              "g = h.make_graph([h.make_node('MatMul', ['x', 'w'], ['h']),\n"
              "    h.make_node('Loop', ['three', '', 'h'], ['z'], body=body),\n"
              "    h.make_node('Add', ['h', 'z'], ['y'])], 'g', [f('x')], [f('y')], [w, three])\n"
              "m = h.make_model(g, opset_imports=[h.make_opsetid('', 17)], ir_version=8)\n"
              "onnx.save(m, 'loop.onnx')\n"
              "numpy.save('x.npy', numpy.arange(16, dtype=numpy.float32).reshape(4, 4))\""));
    cleave("plan -q --mesh 2 --no-output --plan-out loop.json loop.onnx");
    free(does(RUN " run -q -i x=x.npy loop.onnx -o want"));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        run_result r = run_in(folder,
                              TEST_CLEAVE " lower -q loop.onnx loop.json --form %s -o %s && " RUN
                                          " run -q -i x=x.npy %s -o got && diff -r want got && "
                                          "rm -r got",
                              forms[i], forms[i], forms[i]);
        cr_expect_eq(r.code, 0, "%s: %s%s", forms[i], r.out, r.err);
        run_free(&r);
    }
}

/* Weights that stand in no model file: in the original, which is linked into the folder, in the
 * folder's own files, or in safetensors. */
Test(lower, weights_are_found_wherever_they_lie)
{
    static const char *const kinds[] = { "external", "safetensors", "ranges" };
    if (access(RUN, X_OK) != 0)
        cr_skip_test("cleave-run is not built");
    free(does("cp " TEST_SOURCE_DIR "/tests/data/models/gnmt.static.onnx g.onnx"));
    cleave("plan -q --devices 2 --max-tp 1 --stages 2 --no-output --plan-out g.json g.onnx");
    free(does(RUN " run -q --random g.onnx -o want"));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        run_result r =
            run_in(folder,
                   TEST_CLEAVE " lower -q g.onnx g.json --form stages --weights %s -o %s && "
                               "test -e %s/g.onnx || cp g.onnx %s && " RUN
                               " run -q --random %s -o got && diff -r want got && "
                               "rm -r got",
                   kinds[i], kinds[i], kinds[i], kinds[i], kinds[i]);
        cr_expect_eq(r.code, 0, "%s: %s%s", kinds[i], r.out, r.err);
        run_free(&r);
    }
}

/* What of a part is several runs of bytes is written by number. */
Test(lower, ranges_of_columns_are_listed_in_a_file)
{
    free(does("/usr/bin/python3 -c \"\n"
              "import numpy, onnx\n"
              "from onnx import helper as h, numpy_helper as n\n"
              "w = n.from_array(numpy.arange(4096, dtype=numpy.float32).reshape(64, 64), 'w')\n"
              "g = h.make_graph([h.make_node('MatMul', ['x', 'w'], ['y'], name='p')], 'g',\n"
              "    [h.make_tensor_value_info('x', 1, [2, 64])],\n"
              "    [h.make_tensor_value_info('y', 1, [2, 64])], [w])\n"
              "onnx.save(h.make_model(g, opset_imports=[h.make_opsetid('', 17)]), 'w.onnx')\n\""));
    static const char rules[] =
        "{\"rules\": [{\"split\": {\"tensor\": \"w\"}, \"dim\": 1, \"over\": \"tp\"}]}";
    file_write(folder, "rules.json", rules, sizeof rules - 1);
    cleave("plan -q --devices 2 --mesh 2 --constraints rules.json --no-output --plan-out w.json "
           "w.onnx");
    cleave("lower -q w.onnx w.json --form devices --weights ranges -o r");
    free(does(
        "/usr/bin/python3 -c \"\n"
        "import json, numpy, onnx\n"
        "data = open('w.onnx', 'rb').read()\n"
        "for d in 0, 1:\n"
        "    t = onnx.load('r/gpu%d.onnx' % d, load_external_data=False).graph.initializer[0]\n"
        "    file, number = t.external_data[0].value.split('#')\n"
        "    e = json.load(open('r/' + file))['tensors'][int(number)]\n"
        "    loop, = e['repeat']\n"
        "    got = b''.join(data[e['offset'] + i * loop['apart']:][:e['length']]\n"
        "                   for i in range(loop['times']))\n"
        "    want = numpy.arange(4096, dtype=numpy.float32).reshape(64, 64)[:, d*32:d*32+32]\n"
        "    assert e['file'] == 'w.onnx' and got == want.tobytes(), e\n\""));
}

/* Nothing but standard operators, and the inputs and outputs of the model: any runtime runs it.
 * covers: E.057 */
Test(lower, one_plain_model_needs_no_software_between_devices)
{
    free(does(TEST_CLEAVE " lower m.onnx split.json --form emulate -o e"));
    free(does("/usr/bin/python3 -c \"\n"
              "import onnx\n"
              "m, o = onnx.load('e/model.onnx'), onnx.load('m.onnx')\n"
              "onnx.checker.check_model(m, full_check=True)\n"
              "assert {n.domain for n in m.graph.node} == {''}, m\n"
              "assert m.opset_import == o.opset_import\n"
              "assert list(m.graph.input) == list(o.graph.input)\n"
              "assert list(m.graph.output) == list(o.graph.output)\n"
              "assert sum(n.op_type == 'MatMul' for n in m.graph.node) == 4\n"
              "\""));
}

/* What a linear layer that is split by what it adds up over needs is put in. covers: D.038 */
Test(lower, communication_is_put_where_parts_of_a_sum_meet)
{
    char *out =
        does(TEST_CLEAVE " lower m.onnx split.json --form devices -o d && cat d/manifest.json");
    cr_expect(strstr(out, "\"kind\": \"all-reduce\""), "%s", out);
    cr_expect(strstr(out, "\"reduce\": \"sum\""), "%s", out);
    free(out);
}

/* As some exporters do it. What is put in has other names: runtimes refuse two nodes of one. */
Test(lower, operators_may_be_called_as_what_they_make)
{
    static const char rules[] =
        "{\"rules\": [{\"split\": \"h\", \"factor\": \"n\", \"over\": \"tp\"},"
        "{\"split\": \"y\", \"factor\": \"k\", \"over\": \"tp\"}]}";
    file_write(folder, "rules.json", rules, strlen(rules));
    free(does("/usr/bin/python3 -c \"\n"
              "import onnx\n"
              "m = onnx.load('m.onnx')\n"
              "for n in m.graph.node:\n"
              "    n.name = n.output[0]\n"
              "onnx.save(m, 'n.onnx')\""));
    cleave("plan -q --devices 2 --mesh 2 --constraints rules.json --no-output --plan-out n.json "
           "n.onnx");
    cleave("lower -q n.onnx n.json --form devices -o d");
    cleave("lower -q n.onnx n.json --form emulate -o e");
    free(does("/usr/bin/python3 -c \"\n"
              "import onnx\n"
              "for f in 'd/gpu0.onnx', 'd/gpu1.onnx', 'e/model.onnx':\n"
              "    names = [n.name for n in onnx.load(f).graph.node]\n"
              "    assert len(names) == len(set(names)), names\""));
}

Test(lower, it_reports_what_it_wrote)
{
    run_says(folder, 0, "lower", "m.onnx stages.json --form stages -o s",
             "s: 2 models, 0 collectives, 1 tensor from one to another, ");
    run_says(folder, 0, "lower", "m.onnx split.json --form devices -o d/",
             "d/: 2 models, 1 collective, 0 tensors from one to another, ");
    run_result r = run_cleave(folder, 0, "lower", "m.onnx split.json --form emulate -o e --quiet");
    cr_expect_str_empty(r.out);
    run_free(&r);
}

Test(lower, the_same_plan_gives_the_same_bytes)
{
    for (size_t i = 0; i < N_LOWERED; i++) {
        run_result r = run_in(folder,
                              "for f in a b; do rm -rf $f; " TEST_CLEAVE
                              " lower -q m.onnx %s.json %s -o $f; done; diff -r a b",
                              lowered[i][0], lowered[i][1]);
        cr_expect_eq(r.code, 0, "%s: %s%s", lowered[i][1], r.out, r.err);
        run_free(&r);
    }
}

/* A folder that is empty is taken; the model and the plan stay as they were. */
Test(lower, an_empty_folder_is_taken_and_inputs_stay)
{
    free(does("mkdir d; cp m.onnx m2.onnx; cp split.json split2.json"));
    cleave("lower -q m.onnx split.json --form devices -o d");
    cr_expect(file_same(folder, "m.onnx", "m2.onnx"));
    cr_expect(file_same(folder, "split.json", "split2.json"));
    char *out = does("ls d");
    cr_expect_str_eq(out, "gpu0.onnx\ngpu1.onnx\nmanifest.json\n");
    free(out);
}

/* -- forms that keep the model -- */

/* External data is copied, in its folder; with ranges it stays where it is, and may be missing. */
Test(lower, external_data_goes_along)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4,4");
    onnx_weight_external(g, "w", 1, "4,4", "data/w.bin", 0, 64);
    onnx_node(g, "MatMul", "a", "x,w", "h");
    onnx_node(g, "Relu", "b", "h", "y");
    onnx_output(g, "y", 1, "4,4");
    snprintf(path, sizeof path, "%s/e.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    cleave("plan -q --devices 2 --max-tp 1 --stages 2 --no-output --plan-out e.json e.onnx");
    refused(74, "-q e.onnx e.json --form olive -o o",
            "external data file 'data/w.bin' is not there: with --weights ranges it stays");
    refused(74, "-q e.onnx e.json --form stages -o o", "'data/w.bin'");
    cleave("lower -q e.onnx e.json --form olive --weights ranges -o r");
    free(does("mkdir data && head -c 64 /dev/urandom > data/w.bin"));
    cleave("lower -q e.onnx e.json --form ort-options -o o");
    cr_expect(file_same(folder, "data/w.bin", "o/data/w.bin"));
    free(does("/usr/bin/python3 " TEST_SOURCE_DIR "/tests/lower/check_folder.py " TEST_SOURCE_DIR
              " e.onnx e.json o r && grep -q 'copy or link it there' r/manifest.json && test ! -e "
              "r/data"));
}

/* Room for four TiB of parts would be asked for first. */
Test(lower, weights_that_are_not_there_are_missed_before_room_is_taken)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4,1048576");
    onnx_weight_external(g, "w", 1, "1048576,1048576", "data/w.bin", 0, (int64_t)1 << 42);
    onnx_node(g, "MatMul", "a", "x,w", "y");
    onnx_output(g, "y", 1, "4,1048576");
    snprintf(path, sizeof path, "%s/e.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    cleave("plan -q --devices 2 --memory 100TiB --no-output --plan-out e.json e.onnx");
    for (int i = 0; i < 2; i++) {
        char args[100];
        snprintf(args, sizeof args, "-q e.onnx e.json --form devices --weights %s -o o",
                 i ? "safetensors" : "external");
        refused(74, args, "weight 'w' is in the file 'data/w.bin', which is not there");
    }
}

/* Five columns over four devices are 2, 2, 1 and none, for which no file is needed. */
Test(lower, a_part_without_elements_needs_no_weights)
{
    static const char rules[] =
        "{\"rules\": [{\"split\": {\"tensor\": \"w\"}, \"dim\": 1, \"over\": \"tp\"}]}";
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4,4");
    onnx_weight_external(g, "w", 1, "4,5", "data/w.bin", 0, 80);
    onnx_node(g, "MatMul", "a", "x,w", "y");
    onnx_output(g, "y", 1, "4,5");
    snprintf(path, sizeof path, "%s/u.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    file_write(folder, "columns.json", rules, sizeof rules - 1);
    cleave("plan -q --devices 4 --mesh 4 --constraints columns.json --no-output --plan-out u.json "
           "u.onnx");
    cleave("lower -q u.onnx u.json --form devices --weights ranges -o u");
}

/* Metadata of the same key is replaced, other metadata stays. */
Test(lower, metadata_of_others_stays)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_metadata(m, "author", "somebody");
    onnx_metadata(m, "split_assignments", "a=7");
    onnx_input(g, "x", 1, "4,4");
    onnx_node(g, "Relu", "/l/0/a", "x", "h");
    onnx_node(g, "Neg", "/l/0/b", "h", "i");
    onnx_node(g, "Abs", "/l/1/c", "i", "y");
    onnx_output(g, "y", 1, "4,4");
    snprintf(path, sizeof path, "%s/k.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    static const char rules[] = "{\"rules\": [{\"together\": [\"/l/0/a\", \"/l/0/b\"]}]}";
    file_write(folder, "rules.json", rules, sizeof rules - 1);
    cleave(
        "plan -q --devices 2 --max-tp 1 --stages 2 --no-output --constraints rules.json --plan-out "
        "k.json k.onnx");
    cleave("lower -q k.onnx k.json --form olive -o o");
    char *out = does("/usr/bin/python3 -c \"import onnx; print([(p.key, p.value) for p in "
                     "onnx.load('o/model.onnx').metadata_props if p.key != 'cleave.routes'])\"");
    cr_expect_str_eq(out, "[('author', 'somebody'), ('split_assignments', 'l.0=0;l.1=1')]\n");
    free(out);
}

/* x -> Relu -> h -> Neg -> y, of these names, one in each stage. */
static void two_nodes(const char *first, const char *second)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "4,4");
    onnx_node(g, "Relu", first, "x", "h");
    onnx_node(g, "Neg", second, "h", "y");
    onnx_output(g, "y", 1, "4,4");
    snprintf(path, sizeof path, "%s/n.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    cleave("plan -q --runtime none --devices 2 --max-tp 1 --stages 2 --no-output "
           "--plan-out n.json n.onnx");
}

Test(lower, names_that_cannot_say_the_stages_are_reported)
{
    two_nodes("same", "same");
    refused(65, "-q n.onnx n.json --form olive -o o", "would come into split 0 of Olive");
    two_nodes("first", "");
    refused(65, "-q n.onnx n.json --form olive -o o",
            "the plan has it in stage 1: use --form stages");
    two_nodes("first", "se;cond");
    refused(65, "-q n.onnx n.json --form olive -o o", "node 'se;cond' would come into split 0");
    two_nodes("a", "a/b"); /* a prefix of another is no trouble */
    cleave("lower -q n.onnx n.json --form olive -o o");
    two_nodes("a/b", "a");
    cleave("lower -q n.onnx n.json --form olive -o p");
    char *out = does("grep -h split_assignments o/manifest.json p/manifest.json");
    cr_expect_str_eq(out, "    \"split_assignments\": \"a=0;a.b=1\"\n"
                          "    \"split_assignments\": \"a=1;a.b=0\"\n");
    free(out);
}

Test(lower, forms_of_whole_operators_refuse_a_plan_that_splits_them)
{
    refused(
        65, "m.onnx split.json --form olive -o o",
        "the plan splits operators over 2 devices, and form olive says only where whole operators "
        "go: use --form devices");
    refused(65, "m.onnx split.json --form ort-options -o o", "form ort-options says only where");
}

/* y, which is given as often. */
static void relu(const char *inputs, int n_outputs)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "y", 1, "4,4");
    if (inputs)
        onnx_node(g, "Relu", "relu", inputs, "z");
    for (int i = 0; i < n_outputs; i++)
        onnx_output(g, inputs ? "z" : "y", 1, "4,4");
    snprintf(path, sizeof path, "%s/r.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    cleave("plan -q --devices 1 --no-output --plan-out r.json r.onnx");
}

Test(lower, an_output_that_is_named_twice_is_made_once)
{
    relu("y", 2);
    cleave("lower -q r.onnx r.json --form emulate -o e");
    char *out = does("/usr/bin/python3 -c \"import onnx; g = onnx.load('e/model.onnx').graph; "
                     "print([n.output[0] for n in g.node].count('z'), "
                     "[o.name for o in g.output])\"");
    cr_expect_str_eq(out, "1 ['z', 'z']\n");
    free(out);
}

/* It is never cut, though each device may be given a part of it alone, as it is where the plan does
 * not say who cuts it. */
Test(lower, an_input_that_is_returned_is_given_as_it_is)
{
    static const char rules[] =
        "{\"rules\": [{\"split\": \"first\", \"factor\": \"m\", \"over\": \"tp\"}]}";
    file_write(folder, "rules.json", rules, strlen(rules));
    free(does("/usr/bin/python3 -c \"\n"
              "import onnx\n"
              "m = onnx.load('m.onnx')\n"
              "m.graph.output.append(m.graph.input[0])\n"
              "onnx.save(m, 'i.onnx')\""));
    cleave("plan -q --devices 2 --mesh 2 --constraints rules.json --no-output --plan-out i.json "
           "i.onnx");
    free(does("/usr/bin/python3 -c \"\n"
              "import json\n"
              "p = json.load(open('i.json'))\n"
              "p['collectives'] = []\n"
              "json.dump(p, open('i.json', 'w'))\""));
    cleave("lower -q i.onnx i.json --form emulate -o e");
    free(does("/usr/bin/python3 -c \"\n"
              "import onnx\n"
              "g = onnx.load('e/model.onnx').graph\n"
              "assert [o.name for o in g.output] == ['y', 'x']\n"
              "assert 'x' not in [o for n in g.node for o in n.output], g.node\n"
              "assert 'Slice' in [n.op_type for n in g.node], g.node\""));
}

Test(lower, a_model_that_nothing_is_run_of_is_refused)
{
    static const char *const commands[] = { "lower", "verify" };
    for (int i = 0; i < 2; i++) {
        const char *options = i ? "r.onnx r.json" : "r.onnx r.json --form devices -o d";
        relu(NULL, 1);
        run_refused(folder, 65, commands[i], options,
                    "r.onnx has no operators: there is nothing to lower");
        relu("y", 0);
        run_refused(folder, 65, commands[i], options,
                    "r.onnx has no outputs: there is nothing to lower");
    }
}

/* -- wrong usage -- */

Test(lower, wrong_usage_is_reported)
{
    refused(2, "m.onnx split.json --form devcies -o d", "'devcies'");
    refused(2, "m.onnx split.json -o d", "no form is given, expected --form stages, devices");
    refused(2, "m.onnx split.json --form devices", "no folder is given, expected -o FOLDER");
    refused(2, "m.onnx --form devices -o d", "a model and its plan are expected, 1 given");
    refused(2, "m.onnx split.json --form emulate --collectives ort -o d",
            "--collectives is of --form devices, not of emulate");
    refused(2, "m.onnx stages.json --form olive --weights safetensors -o d",
            "the model of --form olive keeps its weights");
}

/* -- bad input -- */

Test(lower, a_plan_of_another_model_is_refused)
{
    two_nodes("first", "second");
    refused(65, "n.onnx split.json --form devices -o d", "is a plan for model 'm.onnx'");
    refused(65, "n.onnx stages.json --form olive -o d", "is a plan for model 'm.onnx'");
}

/* A plan with one text in place of another. */
static void edited(const char *plan, const char *from, const char *to)
{
    size_t n;
    char *text = file_text(folder, plan, &n), *at = strstr(text, from);
    cr_assert_not_null(at, "%s has no '%s'", plan, from);
    char *made = malloc(n + strlen(to) + 1);
    size_t before = (size_t)(at - text);
    memcpy(made, text, before);
    strcpy(made + before, to);
    strcat(made, at + strlen(from));
    file_write(folder, "edited.json", made, strlen(made));
    free(made);
    free(text);
}

Test(lower, a_plan_that_fails_the_checker_is_refused)
{
    edited("stages.json", "\"device_runs\": [\n      [0,1],\n      [1,1]",
           "\"device_runs\": [\n      [1,1],\n      [0,1]");
    refused(65, "m.onnx edited.json --form stages -o d", "which is not a later stage");
    edited("stages.json", "\"count\": 2", "\"count\": 3");
    refused(65, "m.onnx edited.json --form stages -o d", "edited.json");
}

/* The first product is split by columns, whatever the batch: but devices have to know their parts.
 */
Test(lower, parts_of_an_open_dimension_are_refused)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "batch,4");
    onnx_weight(g, "w", 1, "4,8");
    onnx_weight(g, "v", 1, "8,4");
    onnx_node(g, "MatMul", "first", "x,w", "h");
    onnx_node(g, "MatMul", "second", "h,v", "y");
    onnx_output(g, "y", 1, "batch,4");
    snprintf(path, sizeof path, "%s/b.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    cleave("plan -q --devices 2 --mesh 2 --constraints " RULES " --bind batch=4 --no-output "
           "--plan-out b.json b.onnx");
    cleave("lower -q b.onnx b.json --form devices -o d");
    edited("b.json", "\"batch=4\"", "");
    refused(65, "b.onnx edited.json --form devices -o e",
            "the plan splits operator 'first' by 'n', but MatMul has nothing to split: each of its "
            "dimensions is 1, must be whole, or is not known");
}

Test(lower, another_number_of_devices_is_refused)
{
    edited("split.json", "[0, 1]\n    ]", "[0, 1, 2]\n    ]");
    refused(65, "m.onnx edited.json --form devices -o d", "devices");
    edited("split.json", "\"size\": 2", "\"size\": 3");
    refused(65, "m.onnx edited.json --form devices -o d", "devices");
}

Test(lower, a_split_that_the_rule_does_not_have_is_refused)
{
    edited("split.json", "\"tp=n\"", "\"tp=q\"");
    refused(65, "m.onnx edited.json --form devices -o d", "'first'");
    edited("split.json", "\"kind\": \"all-reduce\"", "\"kind\": \"all-rounder\"");
    refused(65, "m.onnx edited.json --form devices -o d", "'all-rounder'");
}

Test(lower, a_folder_may_have_as_long_a_name_as_the_system_takes)
{
    char arguments[400], name[256] = "";
    memset(name, 'n', sizeof name - 1);
    snprintf(arguments, sizeof arguments, "lower -q m.onnx split.json --form devices -o %s", name);
    cleave(arguments);
    cr_expect_eq(folder_count(folder), 4);
}

Test(lower, a_folder_that_is_not_empty_is_left_alone)
{
    free(does("mkdir d && echo mine > d/file && echo mine > file"));
    refused(2, "m.onnx split.json --form devices -o d", "d exists and is not empty");
    refused(2, "m.onnx split.json --form devices -o file", "file exists and is no folder");
    refused(2, "m.onnx stages.json --form olive -o d", "d exists and is not empty");
    char *out = does("cat d/file file");
    cr_expect_str_eq(out, "mine\nmine\n");
    free(out);
}

Test(lower, a_folder_that_cannot_be_made_is_reported)
{
    refused(74, "m.onnx split.json --form devices -o none/d", "cannot make the folder none/d");
    free(does("touch plain"));
    refused(74, "m.onnx split.json --form devices -o plain/d", "cannot make the folder plain/d");
}

Test(lower, a_plan_or_model_that_is_not_there_is_reported)
{
    refused(74, "m.onnx none.json --form devices -o d", "none.json");
    refused(74, "none.onnx split.json --form devices -o d", "none.onnx");
}

/* -- what may go wrong in between -- */

/* A gibibyte of weights, and a plan for it. */
static void large_model(void)
{
    free(does("python3 " TEST_SOURCE_DIR "/tests/cli/large_model.py l.onnx"));
    cleave("plan -q --devices 1 --no-output --plan-out l.json l.onnx");
}

/* No file may grow above 20 blocks: as where a disk is full. */
Test(lower, a_disk_that_is_full_leaves_nothing)
{
    static const char *const forms[] = { "stages", "devices", "emulate", "ort-options" };
    free(does("cp " TEST_SOURCE_DIR "/tests/data/models/gnmt.static.onnx g.onnx"));
    cleave("plan -q --devices 2 --max-tp 1 --stages 2 --no-output --plan-out g.json g.onnx");
    int n = folder_count(folder);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        run_result r = run_in(
            folder, "ulimit -f 20; " TEST_CLEAVE " lower g.onnx g.json --form %s -o d", forms[i]);
        cr_expect_eq(r.code, 74, "%s gave %d: %s", forms[i], r.code, r.err);
        cr_expect(strstr(r.err, "File too large"), "%s: %s", forms[i], r.err);
        cr_expect_eq(folder_count(folder), n, "%s left something", forms[i]);
        run_free(&r);
    }
}

/* Some of the weights are written. */
#define SOME                                                                                       \
    "any(os.path.getsize(f) > 1 << 20 for f in glob.glob('d.tmp*/*') + glob.glob('d.tmp*/.*') "    \
    "if os.path.isfile(f))"

Test(lower, a_stop_leaves_nothing)
{
    static const char *const forms[] = { "stages", "emulate", "ort-options" };
    large_model();
    free(does("mkdir t"));
    int n = folder_count(folder);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        run_result r = run_in(folder,
                              "python3 " TEST_SOURCE_DIR "/tests/support/stop.py 15 INT \"" SOME
                              "\" " TEST_CLEAVE " lower l.onnx l.json --form %s -o d",
                              forms[i]);
        cr_expect_eq(r.code, 130, "%s gave %d: %s%s", forms[i], r.code, r.out, r.err);
        cr_expect(strstr(r.err, "; nothing was written"), "%s: %s", forms[i], r.err);
        cr_expect_eq(folder_count(folder), n, "%s left something", forms[i]);
        run_free(&r);
    }
}

/* -- copies -- */

/* Asserts about d/manifest.json, which is m. */
static void manifest_has(const char *python)
{
    run_result r = run_in(folder,
                          "/usr/bin/python3 -c \"import json; m = json.load(open("
                          "'d/manifest.json')); assert %s, m\"",
                          python);
    cr_expect_eq(r.code, 0, "%s: %s", python, r.err);
    run_free(&r);
}

static void lower_copies(const char *plan, const char *form)
{
    run_result r = run_in(folder,
                          "rm -rf d && " TEST_CLEAVE " lower -q m.onnx %s --form %s -o d && "
                          "/usr/bin/python3 " TEST_SOURCE_DIR
                          "/tests/lower/check_folder.py " TEST_SOURCE_DIR " m.onnx %s d",
                          plan, form, plan);
    cr_expect_eq(r.code, 0, "%s as %s: %s%s", plan, form, r.out, r.err);
    run_free(&r);
}

/* Files are of the first copy; the manifest says who else has them. */
Test(lower, a_folder_of_copies_has_nothing_twice)
{
    static const char *const forms[] = { "emulate", "ort-options", "olive" };
    cleave("plan -q --objective throughput --copies 2 --devices 4 --mesh 2 --constraints " RULES
           " --no-output --plan-out split2.json m.onnx");
    cleave("plan -q --objective throughput --copies 2 --devices 4 --max-tp 1 --stages 2 "
           "--no-output --plan-out stages2.json m.onnx");
    lower_copies("split2.json", "devices");
    manifest_has("m['copies'] == [['gpu0', 'gpu1'], ['gpu2', 'gpu3']]");
    manifest_has("[x['device'] for x in m['models']] == ['gpu0', 'gpu1']");
    lower_copies("split2.json", "stages");
    manifest_has("m['copies'] == [['gpu0', 'gpu1'], ['gpu2', 'gpu3']] and len(m['models']) == 1");
    lower_copies("stages2.json", "stages");
    manifest_has("m['copies'] == [['gpu0', 'gpu1'], ['gpu2', 'gpu3']]");
    manifest_has("[x['device'] for x in m['models']] == ['gpu0', 'gpu1']");
    for (int i = 0; i < 3; i++) {
        lower_copies("stages2.json", forms[i]);
        manifest_has("'copies' not in m and m['notes'][-1] == 'the plan has 2 copies, of which "
                     "requests take one in turn: this is one of them'");
    }
    lower_copies("stages2.json", "ort-options");
    manifest_has("list(m['settings'].values()) == ['gpu:0(=gpu0); gpu:1(=gpu1)']");
    lower_copies("split.json", "devices");
    manifest_has("'copies' not in m and not m['notes']");
}

/* -- a folder that was changed since -- */

static void run_refuses(const char *change, const char *words)
{
    run_result r =
        run_in(folder, "rm -rf c && cp -r d c && cd c && %s && cd .. && " RUN " run --random -q c",
               change);
    cr_expect_eq(r.code, 65, "'%s' gave %d: %s%s", change, r.code, r.out, r.err);
    cr_expect(strstr(r.err, words), "'%s' said: %s", change, r.err);
    char *end = strchr(r.err, '\n');
    cr_expect(end && end[1] == '\0', "'%s' said: %s", change, r.err);
    run_free(&r);
}

Test(lower, a_folder_edited_by_hand_is_not_run)
{
    if (access(RUN, X_OK) != 0)
        cr_skip_test("cleave-run is not built");
    cleave("lower -q m.onnx split.json --form devices -o d");
    run_refuses("printf x >> gpu1.onnx", "gpu1.onnx");
    run_refuses("python3 -c \"b = bytearray(open('gpu0.onnx', 'rb').read()); b[-9] ^= 1; "
                "open('gpu0.onnx', 'wb').write(b)\"",
                "gpu0.onnx");
    run_refuses("rm gpu0.onnx", "gpu0.onnx");
    run_refuses("cp gpu1.onnx gpu0.onnx", "gpu0.onnx");
    run_refuses("sed -i 's/\"name\": \"x\"/\"name\": \"z\"/' manifest.json", "manifest");
    run_refuses("sed -i 's/\"form\"/\"from\"/' manifest.json", "manifest.json");
    run_refuses("truncate -s -20 manifest.json", "manifest.json");
    run_refuses("ln -sf ../d/manifest.json .",
                "c/manifest.json is a link that leads out of the folder");
}
