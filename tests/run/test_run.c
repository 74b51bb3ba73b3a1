/* test_run.c - cleave-run run: one model and chains, what goes in and what comes out. */
#include "run/made.h"

TestSuite(run, .init = set_up, .fini = tear_down);

/* y[batch,2] = x[batch,3] w[3,2], w all ones; named with a slash, as exporters do. */
static void matmul(const char *file)
{
    static const float ones[] = { 1, 1, 1, 1, 1, 1 };
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, "in/x", FLOAT, "batch,3");
    onnx_weight_floats(g, "w", "3,2", ones);
    onnx_node(g, "MatMul", "mul", "in/x,w", "mid/y");
    onnx_output(g, "mid/y", FLOAT, "batch,2");
    write_model(m, file);
}

/* z = y + y, and i = i2 + 1 of an INT64 that is at the side. */
static void doubled(const char *file)
{
    static const int64_t one[] = { 1 };
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, "mid/y", FLOAT, "batch,2");
    onnx_input(g, "i", INT64, "4");
    onnx_weight_ints(g, "one", "1", one);
    onnx_node(g, "Add", "twice", "mid/y,mid/y", "z");
    onnx_node(g, "Add", "next", "i,one", "j");
    onnx_output(g, "z", FLOAT, "batch,2");
    onnx_output(g, "j", INT64, "4");
    write_model(m, file);
}

Test(run, given_values_give_the_right_ones)
{
    matmul("m.onnx");
    save_npy("x.npy", "float32", "[[1, 2, 3], [4, 5, 6]]");
    says(0, "run m.onnx -i in/x=x.npy -o out --format npy", "mid/y  float32[2,2]");
    holds("out/output_0.npy", "[[6, 6], [15, 15]]");
}

/* What is written as .pb has its name in it, so it is found again; and so has what NumPy reads. */
Test(run, outputs_are_inputs_again)
{
    matmul("m.onnx");
    doubled("d.onnx");
    save_npy("x.npy", "float32", "[[1, 2, 3]]");
    save_npy("i.npy", "int64", "[1, 2, 3, 4]");
    says(0, "run m.onnx -i in/x=x.npy -o out", "in out/output_0.pb");
    says(0, "run d.onnx -i out -i i.npy -o out2 --format npy", "z  float32[1,2]");
    holds("out2/output_0.npy", "[[12, 12]]");
    holds("out2/output_1.npy", "[2, 3, 4, 5]");
}

Test(run, a_chain_hands_on_by_names)
{
    matmul("m.onnx");
    doubled("d.onnx");
    save_npy("x.npy", "float32", "[[1, 2, 3]]");
    save_npy("i.npy", "int64", "[0, 0, 0, 9]");
    says(0, "run m.onnx d.onnx -i in/x=x.npy -i i.npy -o out --format npy", "2 models, a chain");
    holds("out/output_0.npy", "[[12, 12]]");
    holds("out/output_1.npy", "[1, 1, 1, 10]");
    cr_expect_eq(folder_count(folder), 5);
}

Test(run, random_values_depend_on_the_seed_alone)
{
    matmul("m.onnx");
    run_result a = cleave_run(0, "run m.onnx --random --bind batch=4 -o a");
    run_result b = cleave_run(0, "run m.onnx --random --bind batch=4 --threads 1 -o b");
    run_result c = cleave_run(0, "run m.onnx --random --bind batch=4 --seed 1 -o c");
    cr_expect(file_same(folder, "a/output_0.pb", "b/output_0.pb"));
    cr_expect(!file_same(folder, "a/output_0.pb", "c/output_0.pb"));
    run_free(&a);
    run_free(&b);
    run_free(&c);
}

Test(run, ranges_hold_for_floats_and_integers)
{
    matmul("m.onnx");
    doubled("d.onnx");
    says(0, "run m.onnx --random --bind batch=400 --range in/x=2:2", "6 to 6\n");
    run_result r = cleave_run(0, "run d.onnx --random --shape mid/y=5x2 --range i=7:7 -o o "
                                 "--format npy");
    run_free(&r);
    holds("o/output_1.npy", "[8, 8, 8, 8]");
    refused(2, "run m.onnx --random --range y=0:1", "the model has no input 'y'");
    refused(2, "run m.onnx --random --bind batch=1 --range in/x=3:2", "is not LO:HI");
    refused(2, "run m.onnx --random --bind batch=1 --bind bacth=2",
            "--bind: no input or output has a dimension called 'bacth'");
    refused(2, "run m.onnx --random --shape in/x=2x3x", "'2x3x' of 'in/x' is not like 2x3x4");
}

/* With inputs of 11 bits, which the runtime would round to 8 if it were let: sums of whole
 * multiples of 1/1024 are exact in any order. */
Test(run, weights_of_four_bits_do_not_make_inputs_coarser)
{
    static const float one[] = { 1 };
    test_onnx *m = onnx_new(10, 21);
    test_graph *g = onnx_main(m);

    onnx_input(g, "x", FLOAT, "4,8");
    onnx_weight_external(g, "w", 22, "8,7", "w.bin", 0, 28); /* INT4 */
    onnx_weight_floats(g, "s", "", one);
    onnx_node(g, "DequantizeLinear", "wide", "w,s", "v");
    onnx_node(g, "MatMul", "mul", "x,v", "y");
    onnx_output(g, "y", FLOAT, "4,7");
    write_model(m, "q.onnx");
    write_text("w.bin", "seven and twenty characters!");
    save_npy("x.npy", "float32", "numpy.arange(32).reshape(4, 8) * 31 / 1024");
    run_result a = cleave_run(0, "run q.onnx -i x.npy --optimize none -o a");
    run_result b = cleave_run(0, "run q.onnx -i x.npy -o b");
    cr_expect(file_same(folder, "a/output_0.pb", "b/output_0.pb"), "%s%s", a.out, b.out);
    run_free(&a);
    run_free(&b);
}

Test(run, json_is_as_its_schema_says)
{
    matmul("m.onnx");
    doubled("d.onnx");
    run_result r = cleave_run(
        0, "run m.onnx d.onnx --random --bind batch=2 --profile --warmup 1 --repeat 3 --json "
           "-o out > r.json");
    run_free(&r);
    run_is_valid(folder, "run", "r.json");
    char *text = file_text(folder, "r.json", NULL);
    cr_expect(strstr(text, "\"name\": \"mul\""), "%s", text);
    cr_expect(strstr(text, "\"runs\": 4"), "%s", text);
    free(text);
    r = cleave_run(74, "run nothing.onnx --json > r.json");
    run_free(&r);
    run_is_valid(folder, "run", "r.json");
}

Test(run, again_is_two_runs_of_each_model)
{
    matmul("m.onnx");
    doubled("d.onnx");
    run_result r = cleave_run(0, "run m.onnx d.onnx --random --bind batch=2 -o once");
    run_free(&r);
    r = cleave_run(0, "run m.onnx d.onnx --random --bind batch=2 --profile --warmup 1 --repeat 3 "
                      "--again --json -o twice > r.json");
    run_free(&r);
    char *text = file_text(folder, "r.json", NULL);
    cr_expect(strstr(text, "\"runs\": 8"), "%s", text);
    free(text);
    cr_expect(file_same(folder, "once/output_0.pb", "twice/output_0.pb"));
}

/* Of paths and of models. */
Test(run, names_are_shown_without_control_characters)
{
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);
    char name[2100] = "y\xc2\x9b"
                      "1m\xff"; /* and too long for one line of words */
    memset(name + strlen(name), 'n', 2000);
    onnx_input(g, "x", FLOAT, "2");
    onnx_node(g, "Relu", "r", "x", name);
    onnx_output(g, name, FLOAT, "2");
    write_model(m, "m.onnx");
    run_result r = run_in(folder, "%s/cleave-run run m.onnx --random -o \"$(printf 'o\\033[31m')\"",
                          TEST_BINARY_DIR);
    cr_expect_eq(r.code, 0, "%s", r.err);
    cr_expect(strstr(r.out, "y\\xc2\\x9b1m\\xffnnn") && strstr(r.out, "nnn  float32[2]  "), "%s",
              r.out);
    cr_expect(strstr(r.out, "in o\\x1b[31m/output_0.pb\n"), "%s", r.out);
    run_free(&r);
}

Test(run, the_profile_leaves_nothing_behind)
{
    matmul("m.onnx");
    char *line = NULL;
    cr_assert(asprintf(&line, "run m.onnx --random --bind batch=2 --profile") > 0);
    run_result r = run_in(folder, /* nor what one that was killed has left */
                          "mkdir -p tmp/cleave-run.tmp-cleave-9-9 && "
                          "TMPDIR=$PWD/tmp %s/cleave-run %s && ls tmp",
                          TEST_BINARY_DIR, line);
    cr_expect_eq(r.code, 0, "%s", r.err);
    cr_expect(strstr(r.out, "slowest nodes of m.onnx"), "%s", r.out);
    cr_expect_null(strstr(r.out, "cleave-run."), "%s", r.out);
    free(line);
    run_free(&r);
}

/* A disk that is full, as the system's own limit on the size of files has it. */
Test(run, a_file_that_may_not_grow_is_named)
{
    matmul("m.onnx");
    run_result r = run_in(folder,
                          "mkdir tmp; export TMPDIR=$PWD/tmp; ulimit -f 2; "
                          "%s/cleave-run run m.onnx --random --bind batch=2 --profile --repeat 50",
                          TEST_BINARY_DIR);
    cr_expect_eq(r.code, 74, "%d: %s", r.code, r.err);
    cr_expect(strstr(r.err, "cannot write ") && strstr(r.err, "/tmp/cleave-run."), "%s", r.err);
    cr_expect(strstr(r.err, "the profile ends after "), "%s", r.err);
    run_free(&r);
    r = run_in(folder,
               "ulimit -f 2; %s/cleave-run run m.onnx --random --bind batch=5000 -o out; "
               "echo $?; ls tmp; test -e out || echo none",
               TEST_BINARY_DIR);
    cr_expect_str_eq(r.out, "74\nnone\n");
    cr_expect(strstr(r.err, "cannot write out/output_0.pb: File too large"), "%s", r.err);
    run_free(&r);
}

Test(run, a_model_that_is_a_pipe_is_not_waited_for)
{
    run_result r =
        run_in(folder, "mkfifo pipe; timeout 10 %s/cleave-run run pipe", TEST_BINARY_DIR);
    cr_expect_eq(r.code, 74, "%d", r.code);
    cr_expect(strstr(r.err, "pipe is not a regular file"), "%s", r.err);
    run_free(&r);
}

/* The runtime writes it as it is, so the profile is no JSON; but it is whole. */
Test(run, a_profile_with_a_quote_in_a_name_is_no_full_disk)
{
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, "x", FLOAT, "2,3");
    onnx_node(g, "Relu", "a\"b", "x", "y");
    onnx_output(g, "y", FLOAT, "2,3");
    write_model(m, "m.onnx");
    run_result r = run_in(folder, "%s/cleave-run run m.onnx --random --profile", TEST_BINARY_DIR);
    cr_expect_eq(r.code, 65, "%d: %s", r.code, r.err);
    cr_expect(strstr(r.err, "not JSON"), "%s", r.err);
    run_free(&r);
}

Test(run, what_is_wrong_is_reported_in_one_sentence)
{
    matmul("m.onnx");
    save_npy("x.npy", "float32", "[[1, 2, 3, 4]]");
    save_npy("d.npy", "float64", "[[1, 2, 3]]");
    save_npy("f.npy", "float32", "numpy.asfortranarray([[1, 2], [3, 4]])");
    write_text("bad.onnx", "no model");
    write_text("bad.npy", "no numbers");
    write_text("empty.pb", "");
    refused(74, "run gone.onnx", "cannot read gone.onnx");
    refused(74, "run m.onnx gone.onnx", "cannot read gone.onnx: No such file or directory");
    refused(2, "run m.onnx .", "'.' is a folder, expected a model");
    refused(2, "run . m.onnx", "'m.onnx' is one too many, expected one folder");
    refused(65, "run bad.onnx --random", "bad.onnx: ");
    refused(65, "run m.onnx", "input 'in/x' has no value; give a file with --inputs, or --random");
    refused(65, "run m.onnx --random", "is 'batch', which has no size; give one as --bind batch=8");
    refused(65, "run m.onnx -i in/x=x.npy", "x.npy is float32[1,4], but input 'in/x' is");
    refused(65, "run m.onnx -i in/x=d.npy", "d.npy is float64[1,3], but input");
    refused(65, "run m.onnx -i in/x=f.npy", "in Fortran's order");
    refused(65, "run m.onnx -i in/x=bad.npy", "is no .npy file");
    refused(65, "run m.onnx -i in/x=empty.pb", "empty.pb: ");
    refused(74, "run m.onnx -i gone.npy", "cannot read gone.npy");
    refused(2, "run m.onnx -i x.npy", "x.npy is for no input of the model; say which as NAME=");
    refused(2, "run", "no model is given");
    refused(2, "runs", "did you mean 'run'?");
    refused(2, "run m.onnx --bind batch", "is not NAME=VALUE");
    refused(74, "run m.onnx --random --bind batch=1 -o bad.onnx",
            "cannot make the folder bad.onnx");
}

Test(run, two_files_for_one_input_are_one_too_many)
{
    matmul("m.onnx");
    save_npy("x.npy", "float32", "[[1, 2, 3]]");
    refused(2, "run m.onnx -i in/x=x.npy -i in/x=x.npy", "are both for input 'in/x'");
}

/* What its outputs call their dimensions follows from its inputs, but may be said as well. */
Test(run, dimensions_of_outputs_may_be_bound_too)
{
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, "x", FLOAT, "batch,3");
    onnx_node(g, "NonZero", "find", "x", "places");
    onnx_output(g, "places", INT64, "2,found");
    write_model(m, "m.onnx");
    says(0, "run m.onnx --random --bind batch=1 --bind found=3", "places  int64[2,3]");
}

/* h -> y, which is h after an even number of turns. */
static void looped(const char *file, int64_t turns)
{
    const int64_t often[] = { turns };
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m), *body = onnx_body(m, "body");

    onnx_input(body, "i", INT64, "");
    onnx_input(body, "go", 9, "");
    onnx_input(body, "v", FLOAT, "64,64");
    onnx_node(body, "Identity", "same", "go", "goes");
    onnx_node(body, "Neg", "neg", "v", "w");
    onnx_output(body, "goes", 9, "");
    onnx_output(body, "w", FLOAT, "64,64");
    onnx_input(g, "h", FLOAT, "64,64");
    onnx_weight_ints(g, "n", "", often);
    test_node *loop = onnx_node(g, "Loop", "loop", "n,,h", "y");
    onnx_attr_graph(g, loop, "body", body);
    onnx_output(g, "y", FLOAT, "64,64");
    write_model(m, file);
}

static void one_node(const char *file, const char *op, const char *in, const char *out)
{
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, in, FLOAT, "64,64");
    if (strcmp(in, "h") == 0)
        onnx_input(g, "y", FLOAT, "64,64");
    onnx_node(g, op, "n", strcmp(in, "h") == 0 ? "h,y" : in, out);
    onnx_output(g, out, FLOAT, "64,64");
    write_model(m, file);
}

/* The first model is fast, and both others read what it makes; the sanitizers see what is
 * overwritten too soon. */
Test(run, a_pipeline_computes_what_one_run_does)
{
    one_node("a.onnx", "Neg", "x", "h");
    looped("b.onnx", 600);
    one_node("c.onnx", "Add", "h", "z");
    says(0, "run a.onnx b.onnx c.onnx --random -o one", "3 models, a chain");
    says(0, "run a.onnx b.onnx c.onnx --random --pipeline 40 -o two", "over 40 runs");
    says(0, "run a.onnx b.onnx c.onnx --random --pipeline 1 -o three --json", "\"runs\": 1,");
    says(0, "run a.onnx --random --pipeline 1", "over 1 run\n");
    cr_expect(file_same(folder, "one/output_0.pb", "two/output_0.pb"));
    cr_expect(file_same(folder, "one/output_0.pb", "three/output_0.pb"));
}

Test(run, a_signal_ends_it_at_once)
{
    looped("e.onnx", INT64_MAX); /* no test waits for its end */
    run_result r = run_in(folder,
                          "mkdir tmp; export TMPDIR=$PWD/tmp; "
                          "%s/cleave-run run e.onnx --random --profile & "
                          "p=$!; sleep 1; kill -TERM $p; wait $p; c=$?; ls tmp; exit $c",
                          TEST_BINARY_DIR);
    cr_expect_eq(r.code, 128 + 15, "%d %s", r.code, r.err);
    cr_expect_str_empty(r.out, "%s", r.out);
    cr_expect(strstr(r.err, "stopped by a signal"), "%s", r.err);
    run_free(&r);
}

/* y is zeros: its file of 512 MiB takes long enough to be seen half written. */
Test(run, half_an_output_is_removed)
{
    test_onnx *m = new_model();
    test_graph *g = onnx_main(m);

    onnx_input(g, "side", INT64, "2");
    onnx_node(g, "ConstantOfShape", "n", "side", "y");
    onnx_output(g, "y", FLOAT, "a,b");
    write_model(m, "m.onnx");
    save_npy("side.npy", "int64", "[8192, 16384]");
    static const char *const formats[] = { "pb", "npy" };
    for (int i = 0; i < 2; i++) {
        run_result r =
            run_in(folder,
                   "python3 %s/tests/support/stop.py 15 TERM+TERM \"glob.glob('out/.*.tmp')\" "
                   "%s/cleave-run run m.onnx -i side.npy -o out --format %s; c=$?; "
                   "ls -A out; exit $c",
                   TEST_SOURCE_DIR, TEST_BINARY_DIR, formats[i]);
        cr_expect_eq(r.code, 128 + 15, "%d %s%s", r.code, r.out, r.err);
        cr_expect(!strstr(r.out, "output_0"), "%s", r.out);
        cr_expect_str_eq(r.err, "cleave-run: stopped by a signal\n");
        run_free(&r);
    }
}

/* Nobody reads the pipe, so it waits when it opens it. */
Test(run, an_output_that_is_a_pipe_is_not_waited_for)
{
    one_node("a.onnx", "Neg", "x", "h");
    run_result r = run_in(folder,
                          "mkdir out && mkfifo out/output_0.pb && python3 "
                          "%s/tests/support/stop.py 15 TERM \"time.sleep(1) or True\" "
                          "%s/cleave-run run a.onnx --random -o out",
                          TEST_SOURCE_DIR, TEST_BINARY_DIR);
    cr_expect_eq(r.code, 128 + 15, "%d %s", r.code, r.err);
    run_free(&r);
}
