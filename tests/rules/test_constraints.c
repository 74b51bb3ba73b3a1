/* test_constraints.c - the reader of constraints files, and who breaks which rule. */
#include "rules/constraints.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "rules/constraints_read.h"
#include "rules/constraints_select.h"
#include "support/line_model.h"

/*   x -> a/Relu -> c/Add -> d/Add -> e*    k, a Constant node, is read by d
 *    \-> b/Gather -/
 */
enum { N_OPS = 6, N_DEVICES = 4 };

static clv_arena *arena;
static clv_graph *graph;

static const char *const lines[] = { "in x",
                                     "a/Relu=Relu x ta",
                                     "b/Gather=Gather x tb",
                                     "c/Add=Add ta tb tc",
                                     "k=Constant tk",
                                     "d/Add=Add tc tk td",
                                     "e*=Relu td y",
                                     "out y",
                                     NULL };

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    graph = line_model(arena, lines)->main;
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(constraints, .init = set_up, .fini = tear_down);

static clv_status parse(const char *text, clv_constraints *ret, clv_error *err)
{
    static const clv_device devices[N_DEVICES] = {
        { 0, "gpu0" }, { 0, "gpu1" }, { 0, "gpu2" }, { 0, "gpu3" }
    };
    clv_cluster cluster = { .n_devices = N_DEVICES, .devices = devices };
    return clv_constraints_parse(text, graph, &cluster, arena, ret, err);
}

static clv_constraints read_rules(const char *text)
{
    clv_constraints c = { 0 };
    clv_error err;
    cr_assert_eq(parse(text, &c, &err), CLV_OK, "%s: %s", text, err.message);
    return c;
}

/* Labels of a set's operators, as "a/Relu c/Add". */
static const char *members(const clv_constraint *rule, int32_t set)
{
    static char text[256];
    text[0] = '\0';
    for (int32_t i = rule->set_first[set]; i < rule->set_first[set + 1]; i++) {
        clv_str label = graph->ops[rule->ops[i].i].label;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", text[0] ? " " : "",
                 CLV_STR_ARG(label));
    }
    return text;
}

static int count_words(const char *text)
{
    int n = text[0] != '\0';
    for (; *text; text++)
        n += *text == ' ';
    return n;
}

static void expect_nodes(const char *nodes, const char *want)
{
    char text[256];
    snprintf(text, sizeof text, "{\"rules\":[{\"place\":%s,\"on\":0}]}", nodes);
    clv_constraints c = read_rules(text);
    const char *got = members(&c.at[0], 0);
    bool all = count_words(got) == count_words(want);
    for (const char *w = want; *w;) { /* ids are in topological order, which may differ */
        char word[32];
        size_t n = strcspn(w, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, w);
        all = all && strstr(got, word);
        w += n + (w[n] == ' ');
    }
    cr_expect(all, "%s means '%s', expected '%s'", nodes, got, want);
}

Test(constraints, nodes_go_by_name_pattern_type_and_tensor)
{
    expect_nodes("\"a/Relu\"", "a/Relu");
    expect_nodes("\"*/Add\"", "c/Add d/Add");
    expect_nodes("\"?/Add\"", "c/Add d/Add");
    expect_nodes("\"*\"", "a/Relu b/Gather c/Add k d/Add e*");
    expect_nodes("\"e*\"", "e*"); /* a name before it is a pattern */
    expect_nodes("{\"op_type\":\"Add\"}", "c/Add d/Add");
    expect_nodes("{\"op_type\":\"*a*\"}", "b/Gather k");
    expect_nodes("{\"tensor\":\"tc\"}", "c/Add");
    expect_nodes("[\"a/Relu\",{\"op_type\":\"Gather\"},\"a/*\"]", "a/Relu b/Gather");
    expect_nodes("[\"a/Relu\",\"nobody\"]", "a/Relu");
}

Test(constraints, places_are_sets_of_devices_and_stages)
{
    clv_constraints c = read_rules("{\"rules\":["
                                   "{\"place\":\"k\",\"on\":[\"gpu3\",0]},"
                                   "{\"place\":\"k\",\"not_on\":1},"
                                   "{\"place\":\"k\",\"on\":[0,1],\"not_on\":1,\"stage\":[1,9]},"
                                   "{\"place\":\"k\",\"not_stage\":0},"
                                   "{\"place\":\"k\",\"stage\":99}]}");
    cr_expect_eq(c.at[0].devices[0], 0x9);
    cr_expect_eq(c.at[1].devices[0], 0xd);
    cr_expect_eq(c.at[2].devices[0], 0x1);
    cr_expect_eq(c.at[2].stages[0], 0x2);
    cr_expect_eq(c.at[3].stages[0], 0xe);
    cr_expect_null(c.at[3].devices);
    cr_expect_eq(c.at[4].stages[0], 0, "no device of four has stage 99");
    cr_expect_str_eq(c.at[0].says, "place 'k' on device 3 or 0");
    cr_expect_str_eq(c.at[3].says, "place 'k' not at stage 0");
    cr_expect_eq(c.n_warnings, 0);
}

/* Constant nodes are on neither side. */
Test(constraints, a_boundary_has_all_that_is_needed_before_it)
{
    clv_constraints c = read_rules("{\"rules\":[{\"boundary_after\":\"c/Add\"},"
                                   "{\"boundary_before\":\"c/Add\"},"
                                   "{\"boundary_after\":\"a/Relu\"}]}");
    cr_expect_eq(count_words(members(&c.at[0], 0)), 3, "%s", members(&c.at[0], 0));
    cr_expect(strstr(members(&c.at[0], 0), "c/Add"));
    cr_expect_str_eq(members(&c.at[0], 1), "d/Add e*");
    cr_expect_eq(count_words(members(&c.at[1], 0)), 2, "%s", members(&c.at[1], 0));
    cr_expect_eq(count_words(members(&c.at[1], 1)), 3, "%s", members(&c.at[1], 1));
    cr_expect_str_eq(members(&c.at[2], 0), "a/Relu");
    cr_expect_null(strstr(members(&c.at[2], 1), "b/Gather"), "beside the boundary is no side");
}

static void expect_unused(const char *rule, const char *words)
{
    char text[256];
    snprintf(text, sizeof text, "{\"rules\":[%s]}", rule);
    clv_constraints c = read_rules(text);
    cr_expect(c.at[0].unused, "%s is used", rule);
    cr_expect(c.n_warnings > 0 && strstr(c.warnings[c.n_warnings - 1], words), "%s: %s", rule,
              c.n_warnings ? c.warnings[c.n_warnings - 1] : "no warning");
}

Test(constraints, rules_that_bind_nothing_are_warned_of)
{
    expect_unused("{\"name\":\"x\",\"place\":\"nobody\",\"on\":0}",
                  "rules[0] 'x': no operator of the main graph is named 'nobody'");
    expect_unused("{\"place\":{\"op_type\":\"Conv\"},\"on\":0}", "has the type 'Conv'");
    expect_unused("{\"place\":{\"tensor\":\"x\"},\"on\":0}", "writes a tensor 'x'");
    expect_unused("{\"together\":\"k\"}", "only one operator");
    expect_unused("{\"each_apart\":\"k\"}", "only one operator");
    expect_unused("{\"apart\":[\"k\",\"nobody\"]}", "fewer than two");
    expect_unused("{\"boundary_after\":\"e*\"}", "nothing comes after");
    expect_unused("{\"boundary_before\":[\"a/Relu\",\"b/Gather\"]}", "nothing comes before");
}

static void expect_refused(const char *text, const char *words)
{
    clv_constraints c;
    clv_error err = { 0 };
    cr_expect_eq(parse(text, &c, &err), CLV_EFORMAT, "%s", text);
    cr_expect(strstr(err.message, words), "%s: '%s', expected '%s'", text, err.message, words);
}

#define ONE(rule) "{\"rules\":[{\"max_stages\":1}," rule "]}"

Test(constraints, a_bad_file_is_refused_in_words)
{
    expect_refused("", "constraints");
    expect_refused("[]", "constraints");
    expect_refused("{}", "rules");
    expect_refused("{\"rules\":[],\"more\":1}", "more");
    expect_refused("{\"rules\":{}}", "rules");
    expect_refused(ONE("7"), "rules[1]");
    expect_refused(ONE("{\"name\":\"n\"}"), "rules[1] says nothing");
    expect_refused(ONE("{\"name\":\"n\"}"), "(rule 'n')");
    expect_refused(ONE("{\"plase\":\"k\"}"), "plase");
    expect_refused(ONE("{\"place\":\"k\"}"), "without where");
    expect_refused(ONE("{\"place\":\"k\",\"on\":4}"), "rules[1].on");
    expect_refused(ONE("{\"place\":\"k\",\"on\":\"gpu4\"}"), "'gpu0' to 'gpu3'");
    expect_refused(ONE("{\"place\":\"k\",\"on\":[]}"), "at least one device");
    expect_refused(ONE("{\"place\":\"k\",\"on\":1.5}"), "rules[1].on");
    expect_refused(ONE("{\"place\":\"k\",\"stage\":-1}"), "rules[1].stage");
    expect_refused(ONE("{\"place\":\"\",\"on\":1}"), "is empty");
    expect_refused(ONE("{\"place\":{\"op_type\":\"\"},\"on\":1}"), "is empty");
    expect_refused(ONE("{\"place\":[],\"on\":1}"), "at least one node");
    expect_refused(ONE("{\"place\":[[\"k\"]],\"on\":1}"), "rules[1].place[0]");
    expect_refused(ONE("{\"place\":{},\"on\":1}"), "op_type");
    expect_refused(ONE("{\"place\":{\"op_type\":\"A\",\"tensor\":\"b\"},\"on\":1}"), "both");
    expect_refused(ONE("{\"together\":\"k\",\"on\":1}"), "goes with \"place\" only");
    expect_refused(ONE("{\"name\":\"two\",\"together\":\"k\",\"place\":\"k\",\"on\":1}"), "'two'");
    expect_refused(ONE("{\"apart\":\"k\"}"), "each_apart");
    expect_refused(ONE("{\"apart\":[\"k\"]}"), "each_apart");
    expect_refused(ONE("{\"max_stages\":0}"), "rules[1].max_stages");
    expect_refused(ONE("{\"why\":3,\"max_stages\":1}"), "rules[1].why");
}

/* a, b, k on device 0 at stage 0, c and d on 1, e* on 2. */
Test(constraints, the_first_broken_rule_is_found)
{
    int32_t device_of[N_OPS], stage_of[N_DEVICES] = { 0, 1, 2, -1 }, set_on[N_DEVICES];
    clv_rule_placement placed = { device_of, stage_of, 3, set_on };
    for (int32_t i = 0; i < N_OPS; i++) {
        char first = graph->ops[i].label.at[0];
        device_of[i] = first == 'e' ? 2 : first == 'c' || first == 'd' ? 1 : 0;
    }
    static const struct {
        const char *rule;
        bool holds;
    } cases[] = {
        { "{\"place\":\"a/Relu\",\"on\":0}", true },
        { "{\"place\":\"a/Relu\",\"on\":[1,2]}", false },
        { "{\"place\":\"e*\",\"stage\":2}", true },
        { "{\"place\":\"e*\",\"not_stage\":2}", false },
        { "{\"together\":\"*/Add\"}", true },
        { "{\"together\":{\"op_type\":\"Relu\"}}", false },
        { "{\"apart\":[\"a/Relu\",\"*/Add\",\"e*\"]}", true },
        { "{\"apart\":[\"a/Relu\",\"b/Gather\"]}", false },
        { "{\"apart\":[\"a/Relu\",\"?/*\"]}", false },
        { "{\"each_apart\":[\"a/Relu\",\"c/Add\",\"e*\"]}", true },
        { "{\"each_apart\":\"*/Add\"}", false },
        { "{\"boundary_after\":[\"a/Relu\",\"b/Gather\"]}", true },
        { "{\"boundary_after\":\"c/Add\"}", false },
        { "{\"boundary_before\":\"e*\"}", true },
        { "{\"max_stages\":3}", true },
        { "{\"max_stages\":2}", false },
        { "{\"place\":\"nobody\",\"on\":3}", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        bool skip[2] = { false, true };
        snprintf(text, sizeof text, "{\"rules\":[{\"max_stages\":9},%s]}", cases[i].rule);
        clv_constraints c = read_rules(text);
        cr_expect_eq(clv_constraints_first_broken(&c, &placed, NULL), cases[i].holds ? -1 : 1, "%s",
                     cases[i].rule);
        cr_expect_eq(clv_constraints_first_broken(&c, &placed, skip), -1);
    }
}

Test(constraints, long_rules_are_described_in_short)
{
    char text[4000] = "{\"rules\":[{\"place\":[\"k\"";
    for (int i = 0; i < 100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",\"a/Relu\"");
    snprintf(text + strlen(text), sizeof text - strlen(text), "],\"on\":1}]}");
    clv_constraints c = read_rules(text);
    size_t n = strlen(c.at[0].says);
    cr_expect(n < 250 && strcmp(c.at[0].says + n - 3, "...") == 0, "%s", c.at[0].says);
}

/* -- how tensors are split -- */

static const clv_split_constraint *read_split(const char *rule)
{
    static clv_constraints c;
    char text[512];
    snprintf(text, sizeof text, "{\"rules\":[%s]}", rule);
    c = read_rules(text);
    cr_assert_not_null(c.at[0].split, "%s", rule);
    cr_expect_eq(c.at[0].n_sets, 0); /* no matter to who places operators */
    return c.at[0].split;
}

static bool has_tensor(const clv_split_constraint *s, const char *name)
{
    bool has = false;
    for (int32_t i = 0; i < s->n_tensors; i++)
        has |= clv_str_is(graph->tensors[s->tensors[i].i].name, name);
    return has;
}

Test(constraints, tensors_are_split_on_a_dimension)
{
    const clv_split_constraint *s =
        read_split("{\"split\":{\"tensor\":\"tc\"},\"dim\":1,\"over\":\"tp\"}");
    cr_expect(s->n_ops == 0 && s->n_tensors == 1 && has_tensor(s, "tc"));
    cr_expect(s->dim == 1 && !s->factor && s->n_axes == 1);
    cr_expect_str_eq(s->axes[0], "tp");
    s = read_split(
        "{\"split\":[\"a/Relu\",{\"tensor\":\"t?\"}],\"dim\":-2,\"over\":[\"dp\",\"tp\"]}");
    cr_expect(s->n_ops == 1 && s->n_tensors == 5 && !has_tensor(s, "x"));
    cr_expect(s->dim == -2 && s->n_axes == 2);
    cr_expect_str_eq(s->axes[1], "tp");
    s = read_split("{\"split\":{\"tensor\":\"x\"},\"dim\":0,\"over\":\"tp\"}"); /* an input */
    cr_expect(s->n_tensors == 1 && has_tensor(s, "x"));
}

Test(constraints, operators_split_a_factor)
{
    const clv_split_constraint *s =
        read_split("{\"split\":[\"*/Add\",{\"tensor\":\"ta\"}],\"factor\":\"n\",\"over\":\"tp\"}");
    cr_expect(s->n_ops == 3 && s->n_tensors == 0); /* with the one that writes ta */
    cr_expect_str_eq(s->factor, "n");
}

Test(constraints, some_are_never_split_and_others_by_batch)
{
    const clv_split_constraint *s = read_split("{\"whole\":{\"op_type\":\"Gather\"}}");
    cr_expect(s->n_ops == 1 && s->n_axes == 0);
    s = read_split("{\"whole\":{\"tensor\":\"y\"},\"over\":\"tp\"}");
    cr_expect(s->n_tensors == 1 && s->n_axes == 1);
    s = read_split("{\"data_parallel\":[\"dp\"]}");
    cr_expect(s->n_ops == 0 && s->n_axes == 1);
    cr_expect_str_eq(s->axes[0], "dp");
}

Test(constraints, rules_on_tensors_say_what_they_say)
{
    clv_constraints c =
        read_rules("{\"rules\":[{\"split\":{\"tensor\":\"tc\"},\"dim\":1,\"over\":[\"dp\",\"tp\"]},"
                   "{\"split\":\"nobody\",\"factor\":\"n\",\"over\":\"tp\"},{\"whole\":\"e*\"},"
                   "{\"data_parallel\":\"dp\"}]}");
    cr_expect_str_eq(c.at[0].says, "split tensor 'tc' on dim 1 over dp.tp");
    cr_expect_str_eq(c.at[1].says, "split 'nobody' by factor 'n' over tp");
    cr_expect_str_eq(c.at[2].says, "never split 'e*'");
    cr_expect_str_eq(c.at[3].says, "data parallel over dp");
    cr_expect(!c.at[0].unused && c.at[1].unused && !c.at[2].unused && !c.at[3].unused);
    cr_expect_eq(c.n_warnings, 1);
    int32_t device_of[N_OPS] = { 0 }, stage_of[N_DEVICES] = { 0 }, set_on[N_DEVICES];
    clv_rule_placement placed = { device_of, stage_of, 1, set_on };
    cr_expect_eq(clv_constraints_first_broken(&c, &placed, NULL), -1);
}

#define OVER ",\"over\":\"tp\"}"

Test(constraints, bad_rules_on_tensors_are_refused_in_words)
{
    expect_refused(ONE("{\"split\":\"k\",\"dim\":1}"), "no key 'over'");
    expect_refused(ONE("{\"split\":\"k\"" OVER), "\"split\" with neither");
    expect_refused(ONE("{\"split\":\"k\",\"dim\":1,\"factor\":\"n\"" OVER), "\"split\" with both");
    expect_refused(ONE("{\"split\":\"k\",\"dim\":64" OVER), "rules[1].dim");
    expect_refused(ONE("{\"split\":\"k\",\"dim\":-65" OVER), "rules[1].dim");
    expect_refused(ONE("{\"split\":\"k\",\"factor\":\"\"" OVER), "name of a factor");
    expect_refused(ONE("{\"split\":\"k\",\"factor\":\"a_much_too_long_one\"" OVER), "'a_much_too");
    expect_refused(ONE("{\"split\":[],\"dim\":1" OVER), "at least one node");
    expect_refused(ONE("{\"split\":[[\"k\"]],\"dim\":1" OVER), "a list within a list");
    expect_refused(ONE("{\"split\":7,\"dim\":1" OVER), "rules[1].split");
    expect_refused(ONE("{\"split\":{\"tensor\":\"\"},\"dim\":1" OVER), "is empty");
    expect_refused(ONE("{\"whole\":{\"tensor\":\"x\",\"op_type\":\"y\"}}"), "op_type");
    expect_refused(ONE("{\"whole\":\"k\",\"over\":[]}"), "0 names, expected 1 to 3 axes");
    expect_refused(ONE("{\"whole\":\"k\",\"over\":[\"a\",\"b\",\"c\",\"d\"]}"), "4 names");
    expect_refused(ONE("{\"whole\":\"k\",\"over\":[\"a\",\"a\"]}"), "listed before");
    expect_refused(ONE("{\"whole\":\"k\",\"over\":\"\"}"), "expected an axis");
    expect_refused(ONE("{\"whole\":\"k\",\"over\":3}"), "rules[1].over");
    expect_refused(ONE("{\"whole\":\"k\",\"dim\":3}"), "goes with \"split\" only");
    expect_refused(ONE("{\"data_parallel\":\"dp\",\"over\":\"tp\"}"),
                   "goes with \"split\" and \"whole\" only");
    expect_refused(ONE("{\"data_parallel\":[]}"), "rules[1].data_parallel");
    expect_refused(ONE("{\"name\":\"it\",\"data_parallel\":\"\"}"), "(rule 'it')");
}
