/* test_readme.c - the commands that README.md shows do what they say. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

/* Runs every line of README.md that calls build/release/cleave, joined where it ends in '\', with
 * the command under test, and in a folder that holds the same paths. */
Test(readme, every_command_works)
{
    char *folder = folder_new();
    run_result r = run_in(
        folder,
        "mkdir -p build/release && ln -s %s build/release/cleave && ln -s %s/tests tests && "
        "sed -e ':a' -e '/\\\\$/N; s/\\\\\\n//; ta' %s/README.md | "
        "sed -n 's/^    \\(build\\/release\\/cleave .*\\)/\\1/p' > lines && "
        "test $(wc -l < lines) -ge 4 && set -e && "
        "while read -r line; do echo \"+ $line\" >&2; sh -c \"$line\" </dev/null; done < lines",
        TEST_CLEAVE, TEST_SOURCE_DIR, TEST_SOURCE_DIR);
    cr_expect_eq(r.code, 0, "%s%s", r.err, r.out);
    cr_expect(strstr(r.out, "[Success] Save the stripped model to build/vit.stripped.onnx"), "%s",
              r.out);
    run_free(&r);
    folder_free(folder);
}
