/* test_manual.c - cleave plan --sharding-nodes, as a user calls it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

#define MODEL TEST_SOURCE_DIR "/tests/data/models/vit_l_16.b16.onnx"
#define CUT   "/encoder/layers/encoder_layer_3/Add_1"

static char *folder;
static void set_up(void) { folder = folder_new(); }
static void tear_down(void) { folder_free(folder); }
TestSuite(cli_manual, .init = set_up, .fini = tear_down);

static void expect(const char *arguments, int code, const char *words)
{
    run_result r = run_in(folder, "%s plan %s --no-output %s", TEST_CLEAVE, MODEL, arguments);
    cr_expect_eq(r.code, code, "%s exits %d: %s", arguments, r.code, r.err);
    cr_expect(strstr(code ? r.err : r.out, words), "%s said: %s%s", arguments, r.out, r.err);
    run_free(&r);
}

/* covers: B.001 B.031 */
Test(cli_manual, cuts_where_it_is_asked_to)
{
    expect("--sharding-nodes '" CUT "=0'", 0, "cut behind  gpu0: ['" CUT "']");
    expect("--sharding-nodes '" CUT "=0'", 0, "result      best found, gap not known");
}

/* covers: B.058 */
Test(cli_manual, reads_devices_and_stages_from_a_file)
{
    const char *json =
        "{ \"sharding_info\": { \"" CUT "\": 0 }, \"pipelining_info\": { \"" CUT "\": 0 } }\n";
    file_write(folder, "cut.json", json, strlen(json));
    expect("--sharding-nodes cut.json", 0, "cut behind  gpu0: ['" CUT "']");
}

Test(cli_manual, refuses_nodes_that_are_not_there_and_files_that_cannot_be_read)
{
    expect("--sharding-nodes nobody=0", 2, "'nobody' is not an operator");
    expect("--sharding-nodes missing.json", 74, "missing.json");
    expect("--sharding-nodes '" CUT "=99'", 2, "expected 0 to 7");
    expect("--sharding-nodes '" CUT "'", 2, "expected NODE=DEVICE");
    expect("--sharding-nodes ,", 2, "expected NODE=DEVICE");
    expect("--sharding-nodes '" CUT "=-1'", 2, "is '-1'");
    file_write(folder, "cut.json", "{ \"sharding_info\": { \"nobody\": 0 } }", 36);
    expect("--sharding-nodes cut.json", 65, "'nobody' is not an operator");
    file_write(folder, "cut.json", CUT "=0", sizeof CUT + 1);
    expect("--sharding-nodes cut.json", 65, "cut.json holds no JSON object");
}
