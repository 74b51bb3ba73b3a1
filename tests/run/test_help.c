/* test_help.c - --help and the man page name the same options. */
#include "run/made.h"

TestSuite(help, .init = set_up, .fini = tear_down);

static void check(const char *command)
{
    char arguments[80], option[64], wanted[80];
    char *page = file_text(TEST_SOURCE_DIR, "docs/man/cleave-run.1", NULL);
    int n = 0;

    snprintf(arguments, sizeof arguments, "%s --help", command);
    run_result r = cleave_run(0, arguments);
    for (const char *line = strstr(r.out, "\n  --"); line; line = strstr(line + 1, "\n  --")) {
        sscanf(line + 3, "%63[^ ,\n]", option);
        snprintf(wanted, sizeof wanted, "Fl -%s", option + 2);
        cr_expect(strstr(page, wanted), "the man page does not have %s of %s", option, command);
        n++;
    }
    cr_expect_geq(n, 6, "%s", r.out);
    cr_expect_leq(text_width(r.out), 80, "%s", r.out);
    free(page);
    run_free(&r);
}

Test(help, every_option_is_in_the_man_page)
{
    check("run");
    check("batch");
    check("compile");
}

Test(help, commands_are_listed)
{
    says(0, "--help", "  compile ");
    says(0, "--version", "ONNX Runtime 1.");
    refused(2, "", "no command is given");
}
