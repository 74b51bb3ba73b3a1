#include "base/file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/clv_file_XXXXXX";

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    cr_assert_eq(mkdir("sub", 0700), 0);
    FILE *f = fopen("a", "w");
    fclose(f);
    cr_assert_eq(link("a", "hard"), 0);
    cr_assert_eq(symlink("a", "soft"), 0);
    cr_assert_eq(symlink(".", "here"), 0);
}

static void tear_down(void)
{
    static const char *const names[] = { "a", "hard", "soft", "here", "sub" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(names[i]);
    rmdir(folder);
}

TestSuite(file, .init = set_up, .fini = tear_down);

Test(file, one_place_has_many_names)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "a", "a", true },          { "a", "./a", true },
        { "a", "sub/../a", true },   { "a", "hard", true },
        { "a", "soft", true },       { "here/a", "a", true },
        { "new", "./new", true },    { "new", "here/new", true },
        { "new", "sub/new", false }, { "new", "other", false },
        { "a", "new", false },       { "none/new", "none/new", false },
        { "sub", "./sub/.", true },  { "", "", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(clv_same_place(cases[i].a, cases[i].b), cases[i].same, "'%s' and '%s'",
                     cases[i].a, cases[i].b);
        cr_expect_eq(clv_same_place(cases[i].b, cases[i].a), cases[i].same, "'%s' and '%s'",
                     cases[i].b, cases[i].a);
    }
}

static clv_status read_in(const char *where, const char *name, clv_arena *arena, clv_error *err)
{
    const clv_folder_file file = { where, name, 8 };
    const char *text;
    size_t n;
    return clv_read_folder_file(&file, arena, &text, &n, err);
}

Test(file, one_of_a_folder_does_not_lead_out_of_it)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_error err;
    cr_assert_eq(symlink("../a", "sub/out"), 0);
    cr_assert_eq(symlink("soft", "in"), 0);
    cr_expect_eq(read_in("here", "in", arena, &err), CLV_OK);
    cr_expect_eq(read_in("sub", "out", arena, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "sub/out"), "%s", err.message);
    cr_expect_eq(read_in("sub", "none", arena, &err), CLV_EIO);
    cr_expect_eq(read_in("none", "a", arena, &err), CLV_EIO);
    clv_arena_free(arena);
    remove("sub/out");
    remove("in");
}
