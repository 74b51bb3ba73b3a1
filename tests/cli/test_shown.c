/* test_shown.c - whatever a file has in its names or is called, no command sends a terminal a
 * control character, those of 8 bits too; reports, notes and messages show them alike.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

/* CSI "2J" in its 8-bit form, and ESC. */
#define ODD                                                                                        \
    "\xc2\x9b"                                                                                     \
    "2J\x1b"
#define SHOWN "\\xc2\\x9b2J\\x1b"

static char *folder;

/* x[2,8] -> MatMul (w[8,6]) -> Relu -> MatMul (v[6,4]) -> y, every name an odd one */
static void write_model(const char *name, const char *second)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x" ODD, 1, "2,8");
    onnx_weight(g, "w" ODD, 1, "8,6");
    onnx_weight(g, "v" ODD, 1, "6,4");
    onnx_node(g, "MatMul", "mm" ODD, "x" ODD ",w" ODD, "h" ODD);
    onnx_node(g, second, "act" ODD, "h" ODD, "r" ODD);
    onnx_node(g, "MatMul", "nn" ODD, "r" ODD ",v" ODD, "y" ODD);
    onnx_output(g, "y" ODD, 1, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

static void set_up(void)
{
    folder = folder_new();
    write_model("m.onnx", "Relu");
    write_model("m" ODD ".onnx", "Relu");
    write_model("bad.onnx", "Nonsense" ODD);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(shown, .init = set_up, .fini = tear_down, .timeout = 300);

static void check_text(const char *line, const char *text)
{
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p, next = (unsigned char)p[1];
        cr_assert((c >= 0x20 || c == '\n') && c != 0x7f && !(c == 0xc2 && next < 0xa0),
                  "cleave %s sends byte %02x at: %.60s", line, c, p);
    }
}

/* A command after those before it; code -1: any but a crash. words: what it has to show, or NULL.
 */
static void check(int code, const char *line, const char *words)
{
    run_result r = run_in(folder, "ODD=$(printf '\\302\\2332J\\033'); %s %s", TEST_CLEAVE, line);
    cr_assert(code < 0 ? r.code < 128 : r.code == code, "cleave %s: %d %s", line, r.code, r.err);
    check_text(line, r.out);
    check_text(line, r.err);
    cr_assert(!words || strstr(r.out, words) || strstr(r.err, words), "cleave %s: %s%s", line,
              r.out, r.err);
    run_free(&r);
}

Test(shown, names_in_reports_and_in_messages)
{
    check(0, "inspect m.onnx", SHOWN);
    check(-1, "inspect bad.onnx", NULL);
    check(0, "plan --devices 2 --mesh tp=2 -o a.onnx --plan-out p.json m.onnx", NULL);
    check(-1, "plan --devices 2 bad.onnx", NULL);
    check(3, "plan --devices 2 --memory 100B m.onnx", NULL);
    check(0, "shards a.onnx", NULL);
    check(0, "shards --all a.onnx", SHOWN);
    check(0, "shards --tiles a.onnx", SHOWN);
    check(-1, "shards --profile one-axis a.onnx", NULL);
    check(-1, "verify m.onnx a.onnx", NULL);
    check(-1, "verify m.onnx p.json", NULL);
    check(-1, "lower --form devices --plan p.json -o out m.onnx", NULL);
    check(-1, "shard --plan p.json -o sh m.onnx", NULL);
    check(-1, "plan --sharding-nodes \"mm$ODD=7\" --devices 2 m.onnx", SHOWN);
    check(-1, "plan --sharding-nodes \"none$ODD=0\" --devices 2 m.onnx", SHOWN);
}

Test(shown, names_of_files)
{
    check(74, "inspect \"none$ODD.onnx\"", "none" SHOWN ".onnx");
    check(74, "plan --devices 2 -o \"no$ODD/a.onnx\" m.onnx", "no" SHOWN "/a.onnx");
    check(-1, "plan --cluster \"none$ODD.json\" m.onnx", "none" SHOWN);
    check(-1, "plan --cluster \"none$ODD\" m.onnx", "none" SHOWN);
    check(-1, "plan --constraints \"none$ODD.json\" --devices 2 m.onnx", "none" SHOWN);
    check(-1, "plan --objective \"none$ODD\" m.onnx", "none" SHOWN);
    check(-1, "\"none$ODD\"", "none" SHOWN);
    check(-1, "plan \"--none$ODD\"", "none" SHOWN);
    check(74, "place \"none$ODD.json\"", "none" SHOWN ".json");
    check(74, "solve \"none$ODD.json\"", "none" SHOWN ".json");
    check(74, "collect -o c.onnx \"none$ODD\"", "none" SHOWN);
    check(0, "plan --devices 2 \"m$ODD.onnx\"", "m" SHOWN);
    check(-1, "annotate --plan \"none$ODD.json\" m.onnx", "none" SHOWN ".json");
    check(-1, "verify m.onnx \"none$ODD\"", "none" SHOWN);
}

Test(shown, names_in_files_that_are_refused)
{
    file_write(folder, "c.json", "{\"none" ODD "\": 1}", strlen("{\"none" ODD "\": 1}"));
    file_write(folder, "d.json", "{\"none\\u009b2J\\u001b\": 1}",
               strlen("{\"none\\u009b2J\\u001b\": 1}"));
    for (const char *file = "cd"; *file; file++) {
        char line[200];
        snprintf(line, sizeof line, "plan --devices 2 --constraints %c.json m.onnx", *file);
        check(-1, line, NULL);
        snprintf(line, sizeof line, "plan --cluster ./%c.json m.onnx", *file);
        check(-1, line, *file == 'd' ? SHOWN : NULL);
        snprintf(line, sizeof line, "place %c.json", *file);
        check(-1, line, NULL);
        snprintf(line, sizeof line, "solve %c.json", *file);
        check(-1, line, NULL);
        snprintf(line, sizeof line, "annotate --plan %c.json m.onnx", *file);
        check(-1, line, NULL);
    }
}

Test(shown, what_a_compiler_says)
{
    check(3, "plan --devices 2 --compiler 'printf \"a\\302\\2332J\\033b\" >&2; exit 3' m.onnx",
          "a" SHOWN "b");
    check(3,
          "plan --devices 2 --compiler 'echo \"{\\\"version\\\": 1, \\\"outcome\\\": \\\"oom\\\", "
          "\\\"device\\\": 0, \\\"bytes\\\": 5, \\\"place\\\": "
          "\\\"a\\\\\\\\u009b2J\\\\\\\\u001b\\\"}\"' m.onnx",
          NULL);
}
