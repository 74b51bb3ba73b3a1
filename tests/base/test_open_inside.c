#include "base/open_inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

/* in/file, in/sub/deep, in/pipe; in/... links; beside it out/file. */
static char top[] = "/tmp/clv_inside_XXXXXX";
static int folder = -1;

static const char *at(const char *name)
{
    static char path[4][300];
    static int k;
    char *to = path[k++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", top, name);
    return to;
}

static void put(const char *name)
{
    FILE *f = fopen(at(name), "w");
    cr_assert_not_null(f);
    fputs(name, f);
    fclose(f);
}

static void link_to(const char *target, const char *name)
{
    cr_assert_eq(symlink(target, at(name)), 0);
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(top));
    mkdir(at("in"), 0700);
    mkdir(at("in/sub"), 0700);
    mkdir(at("out"), 0700);
    put("in/file");
    put("in/sub/deep");
    put("out/file");
    cr_assert_eq(mkfifo(at("in/pipe"), 0600), 0);
    folder = clv_open_folder(at("in"));
    cr_assert_geq(folder, 0);
}

static void tear_down(void)
{
    char command[400];
    close(folder);
    snprintf(command, sizeof command, "rm -r %s", top);
    cr_assert_eq(system(command), 0);
}

TestSuite(open_inside, .init = set_up, .fini = tear_down);

static void opens(const char *name, const char *text)
{
    char got[300] = "";
    int fd = -1;
    clv_file_id id;
    cr_assert_eq(clv_open_inside(folder, name, O_RDONLY, &fd, &id), CLV_INSIDE_OPENED, "%s", name);
    cr_assert_eq(id.bytes, (int64_t)strlen(text));
    cr_assert_eq(read(fd, got, sizeof got), (ssize_t)strlen(text));
    cr_assert_str_eq(got, text);
    cr_assert(clv_is_same_file(fd, &id));
    close(fd);
}

static void is(const char *name, clv_inside want)
{
    int fd = -1;
    clv_file_id id;
    cr_assert_eq(clv_open_inside(folder, name, O_RDONLY, &fd, &id), want, "%s", name);
    cr_assert_eq(fd, -1);
}

Test(open_inside, opens_what_is_in_the_folder_by_any_links_that_end_there)
{
    link_to("file", "in/a");
    link_to("../file", "in/sub/b");
    link_to("sub", "in/c");
    link_to(at("in/sub/deep"), "in/d");
    link_to("../in/file", "in/e");
    link_to(at("in/a"), "out/back");
    link_to("../out/back", "in/f");
    opens("file", "in/file");
    opens("./sub//deep", "in/sub/deep");
    opens("a", "in/file");
    opens("sub/b", "in/file");
    opens("c/deep", "in/sub/deep");
    opens("d", "in/sub/deep");
    opens("e", "in/file");
    opens("f", "in/file");
}

Test(open_inside, refuses_what_is_outside_also_where_there_is_nothing)
{
    link_to("../out/file", "in/a");
    link_to("../out", "in/b");
    link_to(at("out/file"), "in/c");
    link_to("../nothing", "in/d");
    link_to("/", "in/e");
    is("a", CLV_INSIDE_LEAVES);
    is("b/file", CLV_INSIDE_LEAVES);
    is("c", CLV_INSIDE_LEAVES);
    is("d", CLV_INSIDE_LEAVES);
    is("e/etc/passwd", CLV_INSIDE_LEAVES);
    is("../out/file", CLV_INSIDE_LEAVES);
    is("/etc/passwd", CLV_INSIDE_LEAVES);
}

Test(open_inside, knows_what_is_absent_and_what_is_no_file)
{
    link_to("nothing", "in/a");
    link_to("b", "in/b");
    is("nothing", CLV_INSIDE_ABSENT);
    is("file/below", CLV_INSIDE_ABSENT);
    is("a", CLV_INSIDE_ABSENT);
    is("sub", CLV_INSIDE_NOT_REGULAR);
    is("sub/", CLV_INSIDE_NOT_REGULAR);
    is("pipe", CLV_INSIDE_NOT_REGULAR);
    is("b", CLV_INSIDE_FAILED);
}

Test(open_inside, makes_new_files_only_and_never_writes_through_a_link)
{
    clv_file_id id;
    int fd = -1;
    link_to("file", "in/a");
    cr_assert_eq(clv_make_folders_inside(folder, "x/y/z"), 0);
    cr_assert_eq(clv_open_inside(folder, "x/y/z", O_RDWR | O_CREAT, &fd, &id), CLV_INSIDE_OPENED);
    close(fd);
    fd = -1;
    cr_assert_eq(clv_open_inside(folder, "file", O_RDWR | O_CREAT, &fd, &id), CLV_INSIDE_FAILED);
    cr_assert_eq(clv_open_inside(folder, "a", O_RDWR, &fd, &id), CLV_INSIDE_NOT_REGULAR);
    link_to("../out", "in/b");
    cr_assert_eq(clv_make_folders_inside(folder, "b/c/d"), -1);
    cr_assert_eq(clv_make_folders_inside(folder, "../c/d"), -1);
}

Test(open_inside, two_dots_are_a_way_out_only_by_themselves)
{
    static const char *const inside[] = { "a", "a/b", "x..y.onnx", "..a", "a/b..", ".../c" };
    static const char *const outside[] = { "", "/a", "..", "../a", "a/../b", "a/.." };
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        cr_expect(clv_name_stays_inside(inside[i]), "%s", inside[i]);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        cr_expect_not(clv_name_stays_inside(outside[i]), "%s", outside[i]);
}
