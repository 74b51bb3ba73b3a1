/* test_usage.c - what a wrong request gets: one sentence, and an exit code that says so. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

static char *folder;

static void set_up(void)
{
    folder = folder_new();
    file_write(folder, "m.onnx", "not a model", 11);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(usage, .init = set_up, .fini = tear_down);

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Runs "cleave <arguments>"; one line on standard error that says so, nothing on standard output.
 */
static void refused(const char *arguments, int code, const char *says)
{
    run_result r = run_in(folder, "%s %s", TEST_CLEAVE, arguments);

    cr_expect_eq(r.code, code, "'%s' gave %d: %s", arguments, r.code, r.err);
    cr_expect_str_empty(r.out, "'%s' printed: %s", arguments, r.out);
    cr_expect_eq(lines(r.err), 1, "'%s' said: %s", arguments, r.err);
    cr_expect_eq(strncmp(r.err, "cleave: ", 8), 0, "'%s' said: %s", arguments, r.err);
    cr_expect(strstr(r.err, says), "'%s' said: %s", arguments, r.err);
    run_free(&r);
}

static void helps(const char *arguments, const char *says)
{
    run_result r = run_in(folder, "%s %s", TEST_CLEAVE, arguments);

    cr_expect_eq(r.code, 0, "'%s' gave %d", arguments, r.code);
    cr_expect_str_empty(r.err);
    cr_expect(strstr(r.out, says), "'%s' printed: %s", arguments, r.out);
    run_free(&r);
}

Test(usage, help_and_version_are_answers)
{
    helps("--version", "cleave 0.");
    helps("--help", "Commands:");
    helps("-h", "Commands:");
    helps("help", "Commands:");
    helps("help plan", "Usage: cleave plan");
    helps("plan --help", "--objective latency|throughput");
    helps("inspect -h", "Usage: cleave inspect");
    helps("annotate --help", "--plan PATH");
    helps("strip --help", "--all");
    helps("plan --cluster --help", "Usage: cleave plan");
}

Test(usage, a_command_is_needed)
{
    refused("", 2, "no command is given; try 'cleave --help'");
    refused("plna m.onnx", 2, "unknown command 'plna', did you mean 'plan'?");
    refused("frobnicate", 2, "unknown command 'frobnicate'; try");
    refused("help frobnicate", 2, "unknown command");
    refused("help plan strip", 2, "too many");
    refused("--json plan m.onnx", 2, "unknown option '--json' before the command");
}

Test(usage, a_misspelt_option_gets_the_nearest)
{
    refused("plan m.onnx --devcies 2", 2, "unknown option '--devcies', did you mean '--devices'?");
    refused("plan m.onnx --optimal-perf", 2, "did you mean '--optimal_perf'?");
    refused("plan m.onnx --num-ipus=2", 2, "did you mean '--num_ipus'?");
    refused("plan m.onnx --qqqqqqqqq", 2, "unknown option '--qqqqqqqqq'; try 'cleave plan --help'");
    refused("plan m.onnx -x", 2, "unknown option '-x'");
    refused("plan m.onnx --dev 2", 2, "unknown option '--dev'");
}

Test(usage, values_are_needed_once_and_where_they_belong)
{
    refused("plan m.onnx --devices", 2, "--devices has no value");
    refused("plan m.onnx --devices --quiet", 2, "--devices has no value");
    refused("plan m.onnx --cluster=", 2, "--cluster is empty");
    refused("plan m.onnx --cluster ''", 2, "--cluster is empty");
    refused("plan m.onnx --first-fit=yes", 2, "--first-fit takes no value");
    refused("plan m.onnx --devices 2 --devices 2", 2, "--devices is given twice");
    refused("plan m.onnx --quiet -q", 2, "--quiet is given twice");
    refused("plan m.onnx --devices 2 --num_ipus 2", 2,
            "--devices and --num_ipus are the same option");
    refused("plan m.onnx -o a --output_model b", 2, "the same option");
    refused("plan m.onnx -o a --no-output", 2, "exclude each other");
    refused("plan m.onnx --optimal_perf --first-fit", 2, "exclude each other");
    refused("plan m.onnx -o a --plan-out a", 2, "is also 'a' of this run");
}

/* covers: B.036 */
Test(usage, fewer_than_two_ipus_is_an_error)
{
    refused("plan --input_model m.onnx --num_ipus 1", 2, "--num_ipus is '1'");
    refused("plan --input_model m.onnx --num_ipus 0", 2, "--num_ipus is '0'");
    refused("plan --input_model=m.onnx --num_ipus=-3", 2, "--num_ipus is '-3'");
}

Test(usage, numbers_and_words_are_checked)
{
    refused("plan m.onnx --devices 0", 2, "--devices is '0'");
    refused("plan m.onnx --devices two", 2, "--devices is 'two'");
    refused("plan m.onnx --devices 2.5", 2, "--devices is '2.5'");
    refused("plan m.onnx --devices 99999999999999999999", 2, "--devices");
    refused("plan m.onnx --jobs 0", 2, "--jobs");
    refused("plan m.onnx --max-candidates 0", 2, "--max-candidates");
    refused("plan m.onnx --memory 80", 2, "--memory");
    refused("plan m.onnx --memory 0B", 2, "--memory");
    refused("plan m.onnx --memory 80parsecs", 2, "--memory");
    refused("plan m.onnx --objective speed", 2,
            "--objective is 'speed': expected 'latency' or 'throughput'");
    refused("plan m.onnx --search fast", 2, "'default' or 'documented'");
    refused("plan m.onnx --compiler-timeout 0", 2, "--compiler-timeout");
    refused("plan m.onnx --compiler-timeout inf", 2, "--compiler-timeout");
    refused("plan m.onnx --compiler-timeout 1e3", 2, "--compiler-timeout");
    refused("plan m.onnx --compiler-timeout 1000000001", 2, "above 0 and at most 1000000000");
    refused("plan m.onnx --memory 1.5B", 2, "--memory is '1.5B': expected a whole number of bytes");
    refused("plan m.onnx --memory 9223372036854775807B", 2, "expected less than 9e18 bytes");
}

Test(usage, one_model_is_needed)
{
    refused("plan", 2, "no model is given; try 'cleave plan --help'");
    refused("inspect", 2, "no model is given");
    refused("plan a b", 2, "'b' is one model too many");
    refused("plan a --input_model b", 2, "one model too many");
    refused("plan ''", 2, "path is empty");
    refused("plan -- --devices", 74, "--devices");
    refused("annotate m.onnx", 2, "no plan is given");
}

#define VIT TEST_SOURCE_DIR "/tests/data/models/vit_l_16.b16.onnx"

Test(usage, outputs_are_looked_at_before_the_work)
{
    file_write(folder, "c.json", "{}", 2);
    file_write(folder, "n.json", "{}", 2);
    refused("plan m.onnx -o m.onnx", 2, "is the input itself");
    refused("plan m.onnx -o ./m.onnx", 2, "is the input itself");
    refused("strip m.onnx -o m.onnx", 2, "is the input itself");
    refused("plan m.onnx --plan-out m.onnx", 2, "--plan-out: 'm.onnx' is the input itself");
    refused("plan m.onnx -o .", 2, "is a folder");
    refused("plan m.onnx -o new/", 2, "is a folder");
    refused("plan " VIT " -o missing/a.onnx", 74, "its folder does not exist");
    refused("plan " VIT " --no-output --plan-out missing/p.json", 74, "its folder does not exist");
    refused("plan m.onnx -o a --plan-out ../$(basename $PWD)/./a", 2, "is also 'a' of this run");
    refused("plan m.onnx --no-output --cluster c.json --plan-out c.json", 2,
            "--plan-out: 'c.json' is also 'c.json' of this run");
    refused("plan m.onnx --sharding-nodes n.json -o n.json", 2, "is also 'n.json' of this run");
    run_result r =
        run_in(folder, "ln m.onnx other.onnx && %s strip m.onnx -o other.onnx", TEST_CLEAVE);
    cr_expect_eq(r.code, 2, "a second name of the input is the input");
    run_free(&r);
}

/* covers: B.036 */
Test(usage, a_missing_model_and_one_that_is_none_are_distinguished)
{
    refused("plan --input_model missing.onnx --num_ipus 2", 74, "missing.onnx");
    refused("inspect missing.onnx", 74, "missing.onnx");
    refused("plan m.onnx", 65, "");
    refused("inspect m.onnx", 65, "");
    refused("strip m.onnx", 65, "");
    refused("inspect .", 74, "");
}

Test(usage, with_json_an_error_is_an_object_too)
{
    run_result r = run_in(folder, "%s plan m.onnx --objective speed --json", TEST_CLEAVE);

    cr_expect_eq(r.code, 2);
    cr_expect(strstr(r.err, "cleave: --objective"));
    cr_expect(strstr(r.out, "\"code\": \"usage\""), "%s", r.out);
    cr_expect_eq(r.out[0], '{');
    cr_expect_str_eq(r.out + strlen(r.out) - 2, "}\n");
    run_free(&r);
    r = run_in(folder, "%s inspect missing.onnx --json", TEST_CLEAVE);
    cr_expect(strstr(r.out, "\"code\": \"io\""), "%s", r.out);
    run_free(&r);
}

Test(usage, a_long_sentence_ends_in_a_sign_before_the_hint)
{
    refused("$(printf %01000d 7)", 2, "0000...; try 'cleave --help'");
}

Test(usage, a_sentence_stays_one_line_whatever_the_name)
{
    refused("\"$(printf 'pl\\nan\\033[31m')\"", 2, "unknown command 'pl\\x0aan\\x1b[31m'");
}

Test(usage, output_that_cannot_be_written_is_reported_and_a_closed_pipe_is_not)
{
    run_result r = run_in(folder, "%s --help >/dev/full", TEST_CLEAVE);
    cr_expect_eq(r.code, 74);
    cr_expect(strstr(r.err, "standard output"));
    run_free(&r);
    r = run_in(folder, "{ sleep 0.2; %s --help; echo $? >&2; } | true", TEST_CLEAVE);
    cr_expect_str_eq(r.err, "141\n");
    run_free(&r);
}

/* Each option that takes a value: without one, and with an empty one. */
Test(usage, an_option_needs_its_value)
{
    static const char *const options[] = { "--cluster",
                                           "--devices",
                                           "--memory",
                                           "--objective",
                                           "--search",
                                           "--jobs",
                                           "--compiler",
                                           "--max-candidates",
                                           "--configs",
                                           "--output",
                                           "-o",
                                           "--plan-out",
                                           "--input_model",
                                           "--num_ipus",
                                           "--output_model",
                                           "--num_processes",
                                           "--bind",
                                           "--compiler-timeout",
                                           "--deadline",
                                           "--gap" };
    char arguments[200], says[80];

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(says, sizeof says, "%s has no value: expected ",
                 strcmp(options[i], "-o") == 0 ? "--output" : options[i]);
        snprintf(arguments, sizeof arguments, "plan m.onnx %s", options[i]);
        refused(arguments, 2, says);
        snprintf(arguments, sizeof arguments, "plan m.onnx %s ''", options[i]);
        refused(arguments, 2, " is empty: expected ");
    }
}

Test(usage, no_option_is_given_twice)
{
    static const char *const options[] = { "--cluster x",        "--memory 2GiB",
                                           "--search default",   "--objective latency",
                                           "--jobs 2",           "--compiler true",
                                           "--max-candidates 3", "--configs x",
                                           "--output x",         "-o x",
                                           "--plan-out x",       "--input_model x",
                                           "--num_ipus 2",       "--output_model x",
                                           "--num_processes 2",  "--compiler-timeout 1" };
    char arguments[200];

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(arguments, sizeof arguments, "plan %s %s", options[i], options[i]);
        refused(arguments, 2, " is given twice");
    }
}

Test(usage, what_is_no_model_is_reported_and_nothing_hangs)
{
    file_write(folder, "empty.onnx", "", 0);
    file_write(folder, "cut.onnx", "\x08\x08\x3a\xff\x01\x0a", 6);
    run_result r = run_in(folder, "mkfifo pipe && mkdir folder");
    run_free(&r);
    static const char *const commands[] = { "inspect ", "plan ", "strip ", "annotate --plan p " };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char arguments[80];
        static const struct {
            const char *model;
            int code;
            const char *says;
        } wrong[] = { { "pipe", 74, "not a regular file" }, { "folder", 74, "is a folder" },
                      { "/dev/null", 74, "not a regular" }, { "/dev/zero", 74, "not a regular" },
                      { "empty.onnx", 65, "is empty" },     { "cut.onnx", 65, "cut short" },
                      { "m.onnx", 65, "is no ONNX model" }, { "-", 2, "standard input" } };
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            snprintf(arguments, sizeof arguments, "%s%s", commands[i], wrong[k].model);
            refused(arguments, wrong[k].code, wrong[k].says);
        }
    }
}

#define MODEL TEST_SOURCE_DIR "/tests/data/models/llama_gqa_decode.dyn.onnx "

Test(usage, sizes_are_written_name_and_number)
{
    refused("plan " MODEL "--bind batch_size", 2, "'batch_size' is not NAME=SIZE");
    refused("plan " MODEL "--bind batch_size=", 2, "the size of 'batch_size' is ''");
    refused("plan " MODEL "--bind =3", 2, "'=3' is not NAME=SIZE");
    refused("plan " MODEL "--bind ,", 2, "--bind has an empty binding");
    refused("plan " MODEL "--bind batch_size=1,,sequence_length=1", 2, "an empty binding");
    refused("plan " MODEL "--bind 'batch_size=1, ,sequence_length=1'", 2, "an empty binding");
    refused("plan " MODEL "--bind batch_size=1,", 2, "an empty binding");
    refused("plan " TEST_SOURCE_DIR "/tests/data/models/resnet.static.onnx --bind a=1", 65,
            "'a' is not a symbol of this model: it has no symbols");
    refused("plan " MODEL "--bind batch_size=0", 2, "is '0': expected a whole number from 1");
    refused("plan " MODEL "--bind batch_size=-1", 2, "is '-1'");
    refused("plan " MODEL "--bind batch_size=1e3", 2, "is '1e3'");
    refused("plan " MODEL "--bind batch_size=9223372036854775808", 2, "9223372036854775808");
    refused("plan " MODEL "--bind batch_size=1,batch_size=2", 2, "'batch_size' is given twice");
    refused("plan " MODEL "--bind 'batch_size=1, batch_size = 2'", 2, "given twice");
    refused("plan " MODEL "--bind a,b=2", 65,
            "'a,b' is not a symbol of this model: its symbols "
            "are batch_size, sequence_length, ");
    refused("plan " MODEL "--bind a=b=2", 65, "'a=b' is not a symbol");
}

Test(usage, an_unknown_cluster_gets_the_known_ones)
{
    refused("plan --cluster nowhere " MODEL, 2, "'nowhere' is no known cluster; known are ");
    refused("plan --cluster nowhere " MODEL, 2, "dgx-h100, ");
    refused("plan --cluster dgx-h10 " MODEL, 2, "did you mean 'dgx-h100'?");
    refused("plan --cluster nowhere " MODEL, 2,
            "(looked in " TEST_SOURCE_DIR "/configs/clusters and");
    refused("plan --cluster ./nowhere.json " MODEL, 74, "./nowhere.json");
    refused("plan --configs nowhere " MODEL, 2, "looked in nowhere/clusters");
    file_write(folder, "c.json", "{\"a\":1}", 7);
    refused("plan --cluster c.json " MODEL, 65, "c.json has the unknown key 'a'");
}

/* A file opened later must not take the number of a stream that is closed: what is meant for the
 * stream would go into it. */
Test(usage, closed_streams_do_no_harm)
{
    run_result r = run_in(folder,
                          "%s plan %s/tests/data/models/resnet.static.onnx -q -o a.onnx && "
                          "%s plan %s/tests/data/models/resnet.static.onnx -o b.onnx <&- >&- 2>&-; "
                          "echo $?",
                          TEST_CLEAVE, TEST_SOURCE_DIR, TEST_CLEAVE, TEST_SOURCE_DIR);
    cr_expect_str_eq(r.out, "74\n", "%s", r.err);
    cr_expect(file_same(folder, "a.onnx", "b.onnx"));
    run_free(&r);
}
