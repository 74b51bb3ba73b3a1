/* test_shards_check.c - cleave shards: do specs go together, what follows where there is none, what
 * has to be sent, and what a backend makes of them.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/nets.h"
#include "support/onnx_builder.h"
#include "support/run.h"
#include "support/spec_text.h"

static char *folder;
static clv_arena *arena;

static void set_up(void)
{
    folder = folder_new();
    arena = clv_arena_new(NULL, 0);
}

static void tear_down(void)
{
    folder_free(folder);
    clv_arena_free(arena);
}

TestSuite(shards_check, .init = set_up, .fini = tear_down);

/* x[8,16] -> mm: MatMul(w[16,32]) -> y -> act: Relu -> z -> both: Add(z, y) -> s -> soft: Softmax
 * over the last axis -> p -> odd: an operator that nobody knows -> q
 */
typedef struct {
    test_onnx *m;
    test_graph *g;
    test_node *mm, *act, *both, *soft, *odd;
} net;

static net net_new(int devices, const char *names)
{
    net n = { .m = onnx_new(11, 17) };

    n.g = onnx_main(n.m);
    onnx_opset(n.m, "my", 1);
    onnx_input(n.g, "x", 1, "8,16");
    onnx_weight(n.g, "w", 1, "16,32");
    n.mm = onnx_node(n.g, "MatMul", "mm", "x,w", "y");
    n.act = onnx_node(n.g, "Relu", "act", "y", "z");
    n.both = onnx_node(n.g, "Add", "both", "z,y", "s");
    n.soft = onnx_node(n.g, "Softmax", "soft", "s", "p");
    n.odd = onnx_node(n.g, "Odd", "odd", "p", "q");
    onnx_node_domain(n.g, n.odd, "my", NULL);
    onnx_value(n.g, "q", 1, "8,32");
    onnx_output(n.g, "q", 1, "8,32");
    onnx_configuration(n.m, "c", devices, names);
    return n;
}

static void put(const net *n, test_node *node, const char *tensor, const char *text)
{
    clv_sharding_spec spec = spec_text(text, tensor, arena);
    onnx_node_spec(n->g, node, "c", &spec);
}

static void write_net(const net *n)
{
    char path[600];

    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(n->m, path);
    onnx_free(n->m);
}

static char *says(int code, const char *line)
{
    run_result r = run_in(folder, "%s %s", TEST_CLEAVE, line);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", line, r.code, r.out, r.err);
    cr_assert(code == 0 || *r.err || strstr(line, "--json"), "'%s' failed without a word", line);
    if (!*r.out && *r.err) {
        free(r.out);
        return r.err;
    }
    free(r.err);
    return r.out;
}

static char *checked(const net *n)
{
    write_net(n);
    return says(0, "shards --all --check m.onnx");
}

static void has(const char *out, const char *line)
{
    cr_expect(strstr(out, line), "wanted: %s\nprinted: %s", line, out);
}

static void has_not(const char *out, const char *line)
{
    cr_expect(!strstr(out, line), "not wanted: %s\nprinted: %s", line, out);
}

/* -- what follows -- */

/* covers: A.047 A.048 A.049 E.050 */
Test(shards_check, what_has_no_spec_is_inferred_and_marked)
{
    net n = net_new(2, "");
    put(&n, n.mm, "x", "0*2 @ 0 1");
    char *out = checked(&n);
    has(out, "annotated tensors: 1\n");
    has(out, "\ninferred: 10\n"
             "  node 'mm': 'w' unsharded, it enters the model so\n"
             "  node 'mm': 'y' axis 0 in 2 on 0, 1, by the operator's rule\n"
             "  node 'act': 'y' axis 0 in 2 on 0, 1, as its producer delivers it\n"
             "  node 'act': 'z' axis 0 in 2 on 0, 1, by the operator's rule\n"
             "  node 'both': 'z' axis 0 in 2 on 0, 1, as its producer delivers it\n"
             "  node 'both': 'y' axis 0 in 2 on 0, 1, as its producer delivers it\n"
             "  node 'both': 's' axis 0 in 2 on 0, 1, by the operator's rule\n"
             "  node 'soft': 's' axis 0 in 2 on 0, 1, as its producer delivers it\n"
             "  node 'soft': 'p' axis 0 in 2 on 0, 1, by the operator's rule\n"
             "  node 'odd': 'p' axis 0 in 2 on 0, 1, as its producer delivers it\n");
    has(out,
        "\nunchecked: 1\n  node 'odd': has no specs, and none follow: Odd is not known: it has no "
        "sharding rule\n");
    free(out);
}

/* covers: A.050 */
Test(shards_check, an_input_of_the_model_is_split_where_it_enters)
{
    net n = net_new(2, "");
    put(&n, n.mm, "x", "0*2 @ 0 1");
    char *out = checked(&n);
    has(out, "\nmodel inputs that enter whole and are split by their node (a file cannot say that "
             "an input "
             "is sharded): 1\n  node 'mm': 'x' axis 0 in 2 on 0, 1\n");
    free(out);
}

/* covers: A.049 A.059 */
Test(shards_check, a_partial_result_is_reduced_before_it_is_delivered)
{
    net n = net_new(4, "");
    put(&n, n.mm, "x", "0*2 1*2 @ 0 1 2 3");
    put(&n, n.mm, "w", "0*2 @ 0+2 1+3");
    char *out = checked(&n);
    has(out,
        "  node 'mm': 'y' axis 0 in 2 on {0, 1}, {2, 3}, by the operator's rule; partial until 2 "
        "parts are reduced (sum)\n");
    has(out,
        "\ncommunication: 1\n  node 'mm': 'y' is computed as 2 partial results (sum), axis 0 in 2 "
        "on {0, 1}, {2, 3} and delivered as axis 0 in 2 on {0, 1}, {2, 3}: all-reduce over 2 "
        "devices (512 B each)\n");
    free(out);
}

/* covers: A.042 A.045 */
Test(shards_check, a_deliberate_reshard_is_listed_with_its_collectives)
{
    net n = net_new(2, "");
    put(&n, n.mm, "x", "0*2 @ 0 1");
    put(&n, n.mm, "w", "@ 0 1");
    put(&n, n.mm, "y", "1*2 @ 0 1");
    put(&n, n.act, "y", "@ 0 1");
    put(&n, n.act, "z", "@ 0");
    put(&n, n.both, "y", "@ 0");
    char *out = checked(&n);
    has(out,
        "\ncommunication: 4\n"
        "  node 'mm': 'y' is computed as axis 0 in 2 on 0, 1 and delivered as axis 1 in 2 on 0, 1: "
        "all-to-all over 2 devices (256 B each)\n"
        "  node 'act': 'y' is made as axis 1 in 2 on 0, 1 and taken as whole on 0, 1: all-gather "
        "over 2 devices (512 B each)\n"
        "  node 'act': 'z' is computed as whole on 0, 1 and delivered as whole on 0: "
        "point-to-point over 2 devices (1.000 KiB each)\n"
        "  node 'both': 'y' is made as axis 1 in 2 on 0, 1 and taken as whole on 0: ");
    has_not(out, "wrong");
    free(out);
}

/* -- what is refused -- */

/* covers: A.043 A.044 */
Test(shards_check, inputs_that_make_no_sense_together_are_wrong)
{
    net n = net_new(2, "");
    put(&n, n.both, "z", "0*2 @ 0 1");
    put(&n, n.both, "y", "1*2 @ 0 1");
    write_net(&n);
    char *out = says(0, "shards --all m.onnx");
    has(out,
        "\nwrong: 1\n  node 'both': dimension 0 of 'z' and dimension 0 of 'y' are both d0 in the "
        "rule (d0,d1),(d0,d1)->(d0,d1) of Add and have to be split alike, but device 0 has 0 to 3 "
        "of the one and all 8 of the other\n");
    free(out);
    free(says(65, "shards --all --check m.onnx"));
    out = says(65, "shards --all --check --json m.onnx");
    has(out, "\"wrong\": 1,");
    has(out, "\"wrong\": \"node 'both': dimension 0 of 'z'");
    free(out);
}

/* covers: A.043 */
Test(shards_check, each_wrong_node_has_its_sentence)
{
    net n = net_new(2, "");
    put(&n, n.mm, "x", "1*2 @ 0 1");
    put(&n, n.mm, "w", "1*2 @ 0 1");
    put(&n, n.soft, "s", "1*2 @ 0 1");
    write_net(&n);
    char *out = says(65, "shards --all --check --quiet m.onnx");
    has(out, "wrong annotations: 2");
    free(out);
    out = says(0, "shards --all m.onnx");
    has(out, "\nwrong: 2\n  node 'mm': dimension 1 of 'x' and dimension 0 of 'w' are both k in the "
             "rule ");
    has(out,
        "of the other\n"
        "  node 'soft': dimension 1 of 's' is split, but by the rule (a0,n!)->(a0,n!) of Softmax "
        "every device needs all 32 of n\n");
    free(out);
}

/* covers: A.043 */
Test(shards_check, a_node_says_once_where_a_tensor_is)
{
    net n = net_new(2, "");
    put(&n, n.mm, "x", "0*2 @ 0 1");
    put(&n, n.mm, "y", "0*2 @ 0 1");
    put(&n, n.mm, "x", "0*2 @ 0 1");
    put(&n, n.act, "y", "0*2 @ 0 1");
    onnx_node_device(n.g, n.act, "c", 0, "z", 0);
    onnx_node_device(n.g, n.soft, "c", -7, NULL, 0);
    write_net(&n);
    char *out = says(0, "shards --all m.onnx");
    has(out, "\nwrong: 3\n"
             "  node 'mm' has two specs for 'x', expected one\n"
             "  node 'act' is annotated twice for configuration 'c', expected once\n"
             "  node 'soft' has the pipeline_stage -7, expected at least 0\n");
    free(out);
    out = says(65, "shards --all --check m.onnx");
    has(out, "wrong: 3\n");
    free(out);
}

/* A node may say how one input is cut and nothing of the others: they are brought to it. */
Test(shards_check, a_spec_of_one_input_is_enough)
{
    net n = net_new(2, "");
    put(&n, n.mm, "x", "1*2 @ 0 1");
    put(&n, n.act, "z", "1*2 @ 0 1");
    put(&n, n.both, "y", "0*2 @ 0 1");
    char *out = checked(&n);
    has(out, "  node 'mm': 'w' axis 0 in 2 on 0, 1, as the node's other inputs ask\n");
    has(out, "  node 'both': 'z' axis 0 in 2 on 0, 1, as the node's other inputs ask\n");
    has(out, "  node 'both': 'z' is made as axis 1 in 2 on 0, 1 and taken as axis 0 in 2 on 0, 1: "
             "all-to-all over 2 devices");
    has_not(out, "wrong");
    free(out);
}

/* A node without specs of its own is nobody's mistake. */
Test(shards_check, what_follows_for_a_node_without_specs_is_not_wrong)
{
    net n = net_new(2, "");
    put(&n, n.mm, "y", "1*2 @ 0 1");
    put(&n, n.act, "z", "0*2 @ 0 1");
    char *out = checked(&n);
    has(out,
        "\nunchecked: 1\n  node 'both': has no specs, and what follows for its inputs does not go "
        "together: dimension 0 of 'z' and dimension 0 of 'y' are both d0 in the rule ");
    free(out);
}

/* covers: A.043 C.024 */
Test(shards_check, specs_of_an_operator_without_a_rule_are_the_users_own)
{
    net n = net_new(2, "");
    put(&n, n.odd, "p", "1*2 @ 0 1");
    put(&n, n.odd, "q", "0*2 @ 0 1");
    char *out = checked(&n);
    has(out, "annotated tensors: 2\n");
    has(out, "\nunchecked: 1\n  node 'odd': not checked, its specs are the user's own: Odd is not "
             "known: it has no sharding rule\n");
    has_not(out, "communication");
    free(out);
}

/* -- stages, counts and versions -- */

Test(shards_check, a_stage_comes_after_those_that_it_reads)
{
    net n = net_new(2, "");
    onnx_node_device(n.g, n.mm, "c", 1, NULL, 0);
    onnx_node_device(n.g, n.both, "c", 0, NULL, 0); /* through act, which has no stage */
    onnx_node_device(n.g, n.odd, "c", 0, NULL, 0);
    write_net(&n);
    char *out = says(65, "shards --all --check m.onnx");
    has(out, "wrong: 1\n  node 'both' is in stage 0 and needs what node 'mm' makes in stage 1: "
             "expected stage 1 or a later one\n");
    free(out);
    n = net_new(2, "");
    onnx_node_device(n.g, n.mm, "c", 0, NULL, 0);
    onnx_node_device(n.g, n.both, "c", 1, NULL, 0);
    free(checked(&n));
}

Test(shards_check, a_backward_pass_goes_through_the_stages_from_the_last)
{
    static const int stages[][4] = { { 0, 1, 1, 0 }, { 0, 1, 0, 1 } };
    for (int i = 0; i < 2; i++) {
        test_onnx *m = onnx_new(11, 17);
        test_graph *g = onnx_main(m);
        test_node *nodes[4];
        onnx_configuration(m, "c", 2, "");
        onnx_input(g, "x", 1, "8,16");
        nodes[0] = onnx_node(g, "Relu", "one", "x", "y");
        nodes[1] = onnx_node(g, "Relu", "two", "y", "z");
        nodes[2] = onnx_node(g, "Neg", "two_grad", "z", "z_grad");
        nodes[3] = onnx_node(g, "Neg", "one_grad", "z_grad", "y_grad");
        onnx_output(g, "y_grad", 1, "8,16");
        for (int k = 0; k < 4; k++)
            onnx_node_device(g, nodes[k], "c", stages[i][k], NULL, 0);
        net n = { .m = m };
        write_net(&n);
        char *out = says(i == 0 ? 0 : 65, "shards --all --check m.onnx");
        if (i == 1)
            has(out, "node 'one_grad' is in stage 1 and needs what node 'two_grad' makes in stage "
                     "0: expected stage 0 or an earlier one, in a backward pass\n");
        free(out);
    }
}

Test(shards_check, there_are_no_more_shards_than_elements)
{
    net n = net_new(9, "");
    put(&n, n.mm, "x", "0*9 @ 0 1 2 3 4 5 6 7 8");
    put(&n, n.act, "y", "0*8 @ 0 1 2 3 4 5 6 7");
    put(&n, n.soft, "s", "0*4:2,2:4 @ 0 1 2 3 4 5 6 7");
    write_net(&n);
    char *out = says(65, "shards --all --check m.onnx");
    has(out, "wrong: 2\n  node 'mm': axis 0 of 'x' is split into 9 shards, expected at most 8, as "
             "many as it has elements\n");
    has(out, "node 'soft': axis 0 of 's' is split into 4 shards, expected at most 2, as many as it "
             "has elements\n");
    free(out);
}

/* -- configurations -- */

/* covers: A.037 */
Test(shards_check, each_configuration_is_looked_at_by_itself)
{
    net n = net_new(2, "");
    onnx_configuration(n.m, "d", 4, "");
    put(&n, n.mm, "x", "0*2 @ 0 1");
    clv_sharding_spec spec = spec_text("1*4 @ 0 1 2 3", "w", arena);
    onnx_node_spec(n.g, n.mm, "d", &spec);
    write_net(&n);
    char *out = says(0, "shards --all --configuration d m.onnx");
    has(out, "  node 'mm': 'x' unsharded, it enters the model so\n"
             "  node 'mm': 'y' axis 1 in 4 on 0-3, by the operator's rule\n");
    has(out, "\nunchecked: 1\n  node 'soft': has no specs, and what follows");
    free(out);
    out = says(0, "shards --all --check m.onnx");
    has(out, "'y' axis 0 in 2 on 0, 1, by the operator's rule\n");
    has(out, "'y' axis 1 in 4 on 0-3, by the operator's rule\n");
    free(out);
}

/* -- backends -- */

static void profile(const char *restrictions)
{
    char text[1000];
    int length =
        snprintf(text, sizeof text,
                 "{\"version\": 1, \"name\": \"mine\", \"description\": \"d\", \"source\": "
                 "\"s\"%s%s}",
                 *restrictions ? ", " : "", restrictions);
    file_write(folder, "p.json", text, (size_t)length);
}

static void unsupported(const char *restrictions, const char *line)
{
    profile(restrictions);
    char *out = says(0, "shards --all --profile p.json m.onnx");
    has(out, "\nchecked for backend 'mine'\n");
    has(out, line);
    has_not(out, "\nwrong");
    free(out);
    out = says(65, "shards --all --check --quiet --profile p.json m.onnx");
    has(out, "wrong or unsupported annotations: ");
    free(out);
    free(says(0, "shards --all --check m.onnx"));
}

/* covers: A.046 */
Test(shards_check, a_backend_may_be_stricter_and_what_it_refuses_is_not_wrong)
{
    net n = net_new(6, "gpu0,gpu1,gpu2,cpu0,cpu1,cpu2");
    put(&n, n.mm, "x", "0*3 @ 0 1 2");
    put(&n, n.mm, "y", "0*3 @ 2 1 0");
    put(&n, n.act, "y", "0*2 1*2 @ 0+1 2+3 4 5");
    put(&n, n.act, "z", "0*2:2,1:4 @ 0 1");
    onnx_node_device(n.g, n.soft, "c", 1, NULL, 0);
    write_net(&n);
    unsupported("\"uneven\": false", "supported by this backend: 2\n  node 'mm': 'x' is split into "
                                     "uneven parts, equal ones are expected\n");
    unsupported("\"power_of_two\": true",
                "supported by this backend: 3\n"
                "  configuration 'c': it has 6 devices, a power of two is expected\n"
                "  node 'mm': 'x' axis 0 is in 3 shards, a power of two is expected\n");
    unsupported("\"max_devices\": 4", "supported by this backend: 1\n"
                                      "  configuration 'c': it has 6 devices, at most 4 are ");
    unsupported("\"axes_per_tensor\": 1",
                "  node 'act': 'y' 2 of its axes are split, at most 1 is ");
    unsupported("\"unequal_groups\": false",
                "  node 'act': 'y' its parts have different numbers of ");
    unsupported("\"fused_axes\": false",
                "  node 'act': 'z' axis 0 is taken apart into 2 factors, ");
    unsupported("\"stages\": false", "  node 'soft': it has a pipeline stage\n");
    unsupported("\"reshards\": false",
                "  node 'mm': 'y' it is delivered otherwise than it follows ");
    unsupported(
        "\"whole_operators\": [\"Conv\", \"Relu\"]",
        "supported by this backend: 1\n  node 'act': operators of type Relu are not split\n");
    profile("");
    free(says(0, "shards --all --check --profile p.json m.onnx"));
}

/* covers: C.012 */
Test(shards_check, restrictions_to_platforms_and_graph_mode_are_checked_and_reported)
{
    net n = net_new(2, "gpu0,cpu0");
    onnx_input(n.g, "u", 1, "rows,4");
    test_node *neg = onnx_node(n.g, "Neg", "neg", "u", "v");
    onnx_output(n.g, "v", 1, NULL);
    put(&n, neg, "u", "0*2 @ 0 1");
    write_net(&n);
    char *out = says(65, "shards --all --check --json --profile even-slices m.onnx");
    has(out, "\"backend\": \"even-slices\"");
    has(out, "device 'cpu0' is of no platform that is supported: 'ascend' and others");
    has(out, "its size is not known when the graph is compiled");
    free(out);
    out = says(65, "shards --all --check --json --profile even-slices --bind rows=4 m.onnx");
    has_not(out, "when the graph is compiled");
    free(out);
}

/* covers: A.046 A.063 */
Test(shards_check, profiles_that_come_with_it_have_names)
{
    net n = net_new(2, "gpu0,gpu1");
    put(&n, n.mm, "x", "0*2 @ 0 1");
    write_net(&n);
    free(says(0, "shards --all --check --profile onnx-formalism m.onnx"));
    free(says(0, "shards --all --check --profile even-slices m.onnx"));
    free(says(0, "shards --all --check --profile one-axis m.onnx"));
    char *out = says(2, "shards --all --profile even-slizes m.onnx");
    has(out,
        "'even-slizes' is no known backend; did you mean 'even-slices'? known are even-slices, "
        "one-axis, onnx-formalism");
    free(out);
    free(says(74, "shards --all --profile ./none.json m.onnx"));
    profile("\"uneven\": 1");
    out = says(65, "shards --all --profile p.json m.onnx");
    has(out, "p.json: uneven");
    free(out);
    profile("\"odd\": true");
    free(says(65, "shards --all --profile p.json m.onnx"));
}

/* -- our own -- */

/* All that a plan writes goes together: every node is checked, none is wrong. */
static void own_plan(const char *options)
{
    char line[300];

    snprintf(line, sizeof line, "plan %s -o a.onnx m.onnx", options);
    free(says(0, line));
    char *out = says(0, "shards --all --check a.onnx");
    has_not(out, "\nwrong");
    has_not(out, "\nunchecked");
    has_not(out, "\ninferred");
    free(out);
}

static const char *in_folder(char path[4096])
{
    snprintf(path, 4096, "%s/m.onnx", folder);
    return path;
}

#define LLAMA                                                                                      \
    (&(net_sizes){ .layers = 2,                                                                    \
                   .batch = 8,                                                                     \
                   .sequence = 1,                                                                  \
                   .past = 255,                                                                    \
                   .hidden = 2048,                                                                 \
                   .heads = 16,                                                                    \
                   .kv_heads = 8,                                                                  \
                   .inner = 8192,                                                                  \
                   .words = 32000 })

/* covers: A.042 A.043 */
Test(shards_check, plans_of_our_own_are_consistent, .timeout = 600)
{
    char path[4096];

    net_llama(LLAMA, in_folder(path));
    own_plan("--mesh 2x4");
    own_plan("--mesh 8");
    own_plan("--mesh 2x2x2");
    own_plan("--mesh 4 --stages 2");
    own_plan("--devices 3");
    net_resnet(4, 2, 256, 64, path);
    own_plan("--mesh 2x4");
    net_gpt2(&(net_sizes){ .layers = 2,
                           .batch = 2,
                           .sequence = 128,
                           .hidden = 1024,
                           .heads = 16,
                           .inner = 4096,
                           .words = 50257 },
             path);
    own_plan("--mesh 2x4");
    own_plan("--mesh 8");
}

/* Parts of a sum and uneven parts, which specs cannot say, follow from those that they can.
 * covers: A.021 A.049 */
Test(shards_check, uneven_and_partial_tensors_of_our_plans_follow_from_their_specs)
{
    net n = { .m = onnx_new(8, 17) };
    n.g = onnx_main(n.m);
    onnx_input(n.g, "x", 10, "8,4098");
    onnx_weight(n.g, "w1", 10, "4098,16385");
    onnx_weight(n.g, "w2", 10, "16385,4098");
    onnx_node(n.g, "MatMul", "up", "x,w1", "h");
    onnx_node(n.g, "Relu", "act", "h", "r");
    onnx_node(n.g, "MatMul", "down", "r,w2", "y");
    onnx_output(n.g, "y", 10, "8,4098");
    write_net(&n);
    free(says(0, "plan --runtime none --mesh 4 -o a.onnx m.onnx"));
    char *out = says(0, "shards --all --check a.onnx");
    has(out, "\nsplit unevenly, by 'ceil': ");
    has(out,
        "  node 'down': 'y' is computed as 4 partial results (sum), whole on 0-3 and delivered as "
        "axis 0 in 4 on 0-3: reduce-scatter over 4 devices");
    has_not(out, "\nwrong");
    has_not(out, "\nunchecked");
    free(out);
    char *balanced = says(0, "shards --all --check --uneven balanced a.onnx");
    has_not(balanced, "\nwrong");
    free(balanced);
}

/* Nothing is derived: a gradient is a tensor like others. Split by rows, that of a weight is a sum.
 * covers: C.010 */
Test(shards_check, a_backward_pass_is_split_by_the_rules_of_its_own_operators)
{
    net n = { .m = onnx_new(8, 17) };
    n.g = onnx_main(n.m);
    onnx_input(n.g, "x", 1, "131072,1024");
    onnx_input(n.g, "g", 1, "131072,1024");
    onnx_weight(n.g, "w", 1, "1024,1024");
    onnx_node(n.g, "MatMul", "up", "x,w", "y");
    onnx_node(n.g, "Transpose", "x_turned", "x", "x_t");
    onnx_node(n.g, "Transpose", "w_turned", "w", "w_t");
    onnx_node(n.g, "MatMul", "up_grad_w", "x_t,g", "w.grad");
    onnx_node(n.g, "MatMul", "up_grad_x", "g,w_t", "x.grad");
    onnx_node(n.g, "Sub", "update", "w,w.grad", "w_new");
    onnx_output(n.g, "y", 1, "131072,1024");
    onnx_output(n.g, "w_new", 1, "1024,1024");
    onnx_output(n.g, "x.grad", 1, "131072,1024");
    write_net(&n);
    free(says(0, "plan --runtime none --mesh 4 --devices 4 -o a.onnx m.onnx"));
    char *out = says(0, "shards --all --check a.onnx");
    has(out, "  node 'up': 'x' axis 0 in 4 on 0-3\n");
    has(out, "  node 'up_grad_x': 'g' axis 0 in 4 on 0-3\n");
    has(out,
        "  node 'up_grad_w': 'w.grad' is computed as 4 partial results (sum), whole on 0-3 and ");
    has_not(out, "\nwrong");
    free(out);
}

/* -- the JSON form -- */

Test(shards_check, the_json_form_has_all_of_it)
{
    net n = net_new(4, "");
    put(&n, n.mm, "x", "0*2 1*2 @ 0 1 2 3");
    put(&n, n.mm, "w", "0*2 @ 0+2 1+3");
    put(&n, n.soft, "s", "1*2 @ 0 1");
    put(&n, n.odd, "p", "1*2 @ 0 1");
    write_net(&n);
    profile("\"axes_per_tensor\": 1");
    char *out = says(0, "shards --all --json --profile p.json m.onnx");
    file_write(folder, "printed.json", out, strlen(out));
    free(out);
    run_is_valid(folder, "shards", "printed.json");
    out = says(0, "shards --all --json m.onnx | tr -d ' \\n'");
    has(out, "{\"configuration\":\"c\",\"node\":\"mm\",\"tensor\":\"y\",\"by\":\"rule\",\"spec\":{"
             "\"tensor\":\"y\",\"device\":[-1,-2],\"index_to_device_group_map\":{\"-1\":[0,1],"
             "\"-2\":[2,3]},\"sharded_dim\":[{"
             "\"axis\":0,\"simple_sharding\":[{\"num_shards\":2}]}]},\"partial_results\":2,"
             "\"reduce\":\"sum\"}");
    has(out, "\"steps\":[{\"kind\":\"all-reduce\",\"devices\":2,\"bytes\":512}]");
    free(out);
}
