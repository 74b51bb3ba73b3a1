/* test_readme.c - the commands that README.md shows do what they say. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

/* Each of at least n lines that are shown behind these words, up to the next text, was printed. */
static void shown_is_printed(const char *printed, const char *words, int least)
{
    char *readme = file_text(TEST_SOURCE_DIR, "README.md", NULL);
    char *line = strstr(readme, words);
    int n = 0;

    cr_assert_not_null(line);
    line = strtok(strchr(line, '\n'), "\n");
    for (; line && strncmp(line, "    ", 4) == 0; line = strtok(NULL, "\n"), n++)
        cr_expect(strstr(printed, line + 4), "README.md shows '%s'", line + 4);
    cr_expect_geq(n, least);
    free(readme);
}

/* Runs every line of README.md that calls build/release/cleave, joined where it ends in '\', with
 * the command under test, and in a folder that holds the same paths. The line that verifies runs in
 * builds that have the command. */
Test(readme, every_command_works)
{
    char *folder = folder_new();
    run_result r = run_in(
        folder,
        "mkdir -p build/release && ln -s %s build/release/cleave && ln -s %s/tests tests && "
        "sed -e ':a' -e '/\\\\$/N; s/\\\\\\n//; ta' %s/README.md | "
        "sed -n 's/^    \\(build\\/release\\/cleave .*\\)/\\1/p' > lines && "
        "test $(wc -l < lines) -ge 7 && "
        "{ build/release/cleave help | grep -q '^  verify ' || sed -i '/cleave verify/d' lines; } "
        "&& "
        "set -e && "
        "while read -r line; do echo \"+ $line\" >&2; sh -c \"$line\" </dev/null; done < lines",
        TEST_CLEAVE, TEST_SOURCE_DIR, TEST_SOURCE_DIR);
    cr_expect_eq(r.code, 0, "%s%s", r.err, r.out);
    cr_expect(strstr(r.out, "The stripped model is in build/vit.stripped.onnx"), "%s", r.out);
    cr_expect(strstr(r.out, "\nbuild/bert: 2 models, "), "%s", r.out);
    shown_is_printed(r.out, "of a DGX H100:\n", 11);
    shown_is_printed(r.out, "where the model is cut:\n", 6);
    run_free(&r);
    folder_free(folder);
}
