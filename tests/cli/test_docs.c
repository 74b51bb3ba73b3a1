/* test_docs.c - --help, the man pages and the completion name the same options. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

static const char *const commands[] = { "plan",  "inspect", "shards",  "annotate",  "strip",
                                        "shard", "reshard", "collect", "place",     "solve",
                                        "rules", "verify",  "lower",   "calibrate", "clusters" };
#define N_COMMANDS (sizeof commands / sizeof *commands)

/* Calls visit for each word that starts with "--" at the start of a line of the help. */
static int each_option(const char *help, const char *command,
                       void (*visit)(const char *command, const char *option))
{
    int n = 0;

    for (const char *line = strstr(help, "\n  --"); line; line = strstr(line + 1, "\n  --")) {
        char option[64] = "";
        sscanf(line + 3, "%63[^ ,\n]", option);
        visit(command, option);
        n++;
    }
    return n;
}

static void check_man(const char *command, const char *option)
{
    char wanted[80], name[80];

    snprintf(name, sizeof name, "docs/man/cleave-%s.1", command);
    char *page = file_text(TEST_SOURCE_DIR, name, NULL);
    cr_assert_not_null(page);
    snprintf(wanted, sizeof wanted, "Fl -%s", option + 2);
    const char *at = page;
    while ((at = strstr(at, wanted)) && !strchr(" \n", at[strlen(wanted)]))
        at++;
    cr_expect(at, "%s does not document %s", name, option);
    free(page);
}

/* The option as a word of the line of its command. */
static void check_completion(const char *command, const char *option)
{
    char wanted[80];
    char *text = file_text(TEST_SOURCE_DIR, "src/cli/completion/cleave.bash", NULL);

    snprintf(wanted, sizeof wanted, "    %s)", command);
    char *start = strstr(text, wanted);
    cr_assert_not_null(start, "no completion of %s", command);
    *strstr(start, ";;") = '\0';
    const char *at = start;
    while ((at = strstr(at, option)) && !strchr(" \"\n", at[strlen(option)]))
        at++;
    cr_expect(at, "the completion of %s does not know %s", command, option);
    free(text);
}

static char *help_of(const char *command)
{
    run_result r = run_in("/", "%s %s --help", TEST_CLEAVE, command);
    char *help = r.out;

    cr_assert_eq(r.code, 0);
    free(r.err);
    return help;
}

Test(docs, help_fits_a_terminal)
{
    for (size_t i = 0; i <= N_COMMANDS; i++) {
        char *help = help_of(i < N_COMMANDS ? commands[i] : "");
        cr_expect_leq(text_width(help), 80, "%s", help);
        free(help);
    }
}

Test(docs, the_man_pages_have_every_option)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char *help = help_of(commands[i]);
        cr_expect_geq(each_option(help, commands[i], check_man), 3);
        free(help);
    }
}

Test(docs, the_completion_knows_every_option)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char *help = help_of(commands[i]);
        cr_expect_geq(each_option(help, commands[i], check_completion), 3);
        free(help);
    }
}

/* The other way: nothing is documented that does not exist. */
Test(docs, the_man_pages_have_no_option_that_is_not_there)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char name[80];
        char *help = help_of(commands[i]);
        snprintf(name, sizeof name, "docs/man/cleave-%s.1", commands[i]);
        char *page = file_text(TEST_SOURCE_DIR, name, NULL);
        const char *at = page;
        while ((at = strstr(at, "Fl -")) != NULL) {
            char option[64] = "", line[80];
            sscanf(at + 4, "%63[^ ,\n]", option);
            snprintf(line, sizeof line, "\n  --%s", option);
            cr_expect(strstr(help, line), "%s documents --%s", name, option);
            at++;
        }
        free(page);
        free(help);
    }
}

Test(docs, the_completion_offers_what_exists)
{
    run_result r = run_in("/",
                          "bash -c '. %s/src/cli/completion/cleave.bash; "
                          "COMP_WORDS=(cleave plan --obj); COMP_CWORD=2; _cleave; "
                          "echo ${COMPREPLY[@]}; COMP_WORDS=(cleave plan --objective l); "
                          "COMP_CWORD=3; _cleave; echo ${COMPREPLY[@]}; "
                          "COMP_WORDS=(cleave st); COMP_CWORD=1; _cleave; echo ${COMPREPLY[@]}'",
                          TEST_SOURCE_DIR);
    cr_expect_str_eq(r.out, "--objective\nlatency\nstrip\n", "%s%s", r.out, r.err);
    run_free(&r);
}

/* What the last of the words may become. */
static void completes(const char *words, const char *wanted)
{
    run_result r = run_in("/",
                          "bash -c 'cd %s/src/cli/completion; . ./cleave.bash; cd /; "
                          "COMP_WORDS=(cleave %s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _cleave; "
                          "echo ${COMPREPLY[@]}'",
                          TEST_SOURCE_DIR, words);
    cr_expect_str_eq(r.out, wanted, "'%s': %s%s", words, r.out, r.err);
    run_free(&r);
}

Test(docs, the_completion_knows_clusters_and_choices_in_both_spellings)
{
    completes("plan --cluster dgx-h100-x", "dgx-h100-x2 dgx-h100-x4 dgx-h100-x8\n");
    completes("plan --cluster = cpu", "cpu-2\n");
    completes("clusters dgx-h2", "dgx-h200\n");
    completes("clusters --conf", "--configs\n");
    completes("plan --objective =", "latency throughput devices\n");
    completes("plan --objective = t", "throughput\n");
    completes("plan --objective=t", "--objective=throughput\n");
    completes("plan --cluster=cpu", "--cluster=cpu-2\n");
    completes("shards --uneven=", "--uneven=refuse --uneven=ceil --uneven=balanced\n");
    completes("plan --search d", "default documented\n");
    completes("lower --form e", "emulate\n");
    completes("plan --color a", "auto always\n");
    completes("lower --weights=s", "--weights=safetensors\n");
}

Test(docs, the_man_page_has_every_exit_code_that_the_help_has)
{
    static const char *const codes[] = { ".It 0\n",  ".It 2\n",  ".It 3\n",
                                         ".It 65\n", ".It 70\n", ".It 74\n" };
    char *page = file_text(TEST_SOURCE_DIR, "docs/man/cleave.1", NULL);
    char *help = help_of("");

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char word[8] = "";
        sscanf(codes[i] + 4, "%7s", word);
        cr_expect(strstr(page, codes[i]), "%s", codes[i]);
        cr_expect(strstr(help, word), "%s", codes[i]);
    }
    free(page);
    free(help);
}

Test(docs, mandoc_has_no_complaint)
{
    run_result r = run_in(TEST_SOURCE_DIR, "command -v mandoc >/dev/null || exit 0; "
                                           "mandoc -Tlint -Wwarning docs/man/*.1");
    cr_expect_eq(r.code, 0, "%s", r.out);
    run_free(&r);
}
