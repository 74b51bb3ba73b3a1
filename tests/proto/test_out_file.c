#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/onnx.pb-c.h"
#include "proto/out_file.h"

#include <criterion/criterion.h>

#include "proto/everything.h"

static char folder[] = "/tmp/clv_out_XXXXXX";

static void set_up(void) { cr_assert_not_null(mkdtemp(folder)); }

/* Removes what is in the folder and counts it. */
static int clear(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; (e = readdir(dir));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        n++;
        remove(path);
    }
    closedir(dir);
    return n;
}

static void tear_down(void)
{
    clear();
    rmdir(folder);
}

TestSuite(out_file, .init = set_up, .fini = tear_down);

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int k;
    k = (k + 1) % 4;
    snprintf(path[k], sizeof path[k], "%s/%s", folder, name);
    return path[k];
}

static clv_out_file *open_out(const char *path)
{
    clv_out_file *out = NULL;
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_out_open(path, NULL, &out, &err), CLV_OK, "said: %s", err.message);
    return out;
}

static void put(clv_out_file *out, const char *text)
{
    clv_sink sink = clv_out_sink(out);
    cr_assert_eq(sink.write(sink.ctx, text, strlen(text), NULL), CLV_OK);
}

static void holds(const char *path, const char *text)
{
    char got[64] = "";
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f, "%s", path);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    cr_assert_str_eq(got, text);
}

static void put_and_commit(const char *name, const char *text)
{
    clv_out_file *out = open_out(in_folder(name));
    put(out, text);
    cr_assert_eq(clv_out_commit(out, NULL), CLV_OK);
}

Test(out_file, appears_when_it_is_committed)
{
    const char *path = in_folder("a.onnx");
    clv_out_file *out = open_out(path);
    put(out, "abc");
    cr_assert_neq(access(path, F_OK), 0, "not before");
    cr_assert_eq(clv_out_commit(out, NULL), CLV_OK);
    holds(path, "abc");
    cr_assert_eq(clear(), 1, "and nothing beside it");
}

Test(out_file, has_the_mode_of_a_new_file)
{
    struct stat st;
    const char *path = in_folder("a.onnx");
    umask(027);
    clv_out_commit(open_out(path), NULL);
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0640);
}

Test(out_file, leaves_nothing_when_aborted)
{
    clv_out_file *out = open_out(in_folder("a.onnx"));
    put(out, "abc");
    clv_out_abort(out);
    clv_out_abort(NULL);
    cr_assert_eq(clear(), 0);
}

Test(out_file, replaces_an_old_file_only_at_the_end)
{
    const char *path = in_folder("a.onnx");
    clv_out_file *out = open_out(path);
    put(out, "old");
    clv_out_commit(out, NULL);
    out = open_out(path);
    put(out, "new");
    holds(path, "old");
    clv_out_commit(out, NULL);
    holds(path, "new");
}

static void cannot_open(const char *path, clv_status want, const char *says)
{
    clv_out_file *out = NULL;
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_out_open(path, NULL, &out, &err), want, "%s", path);
    cr_assert(strstr(err.message, says), "said: %s", err.message);
    cr_assert_null(out);
}

Test(out_file, refuses_folders_and_what_is_in_none)
{
    cannot_open(folder, CLV_EIO, "it is a folder");
    cannot_open(in_folder("none/a.onnx"), CLV_EIO, "its folder does not exist");
    cannot_open(in_folder("new/"), CLV_EIO, "it is a folder");
    cannot_open("", CLV_EUSAGE, "is empty");
    cr_assert_eq(clear(), 0);
}

/* Weights of in.onnx are in w.bin, which is not there, and in v.bin. */
Test(out_file, refuses_the_input_and_its_external_data_by_any_name)
{
    const char *path = in_folder("in.onnx"), *link = in_folder("link.onnx");
    test_onnx *m = everything();
    onnx_weight_external(onnx_main(m), "outer1", 1, "5,5", "w.bin", 0, 100);
    onnx_weight_external(onnx_main(m), "outer2", 1, "5,5", "v.bin", 0, 100);
    onnx_write(m, path);
    onnx_free(m);
    FILE *f = fopen(in_folder("v.bin"), "wb");
    for (int i = 0; i < 100; i++)
        fputc(i, f);
    fclose(f);
    cr_assert_eq(symlink(path, link), 0);
    cr_assert_eq(symlink("v.bin", in_folder("v.link")), 0);
    clv_onnx_file *file = NULL;
    clv_model *model = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_onnx_open(path, NULL, &file, NULL), CLV_OK);
    cr_assert_eq(clv_onnx_read(file, arena, &model, &err), CLV_OK, "said: %s", err.message);
    static const struct {
        const char *name, *says;
    } cases[] = {
        { "in.onnx", "is the input itself" },
        { "link.onnx", "is the input itself" },
        { "w.bin", "the input has external" },
        { "v.bin", "the input has external" },
        { "v.link", "the input has external" },
        { "./././w.bin", "the input has external" },
        { "other.onnx", NULL },
        { "w.bin.onnx", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clv_status s = clv_out_refuse(in_folder(cases[i].name), file, model, arena, &err);
        cr_expect_eq(s, cases[i].says ? CLV_EUSAGE : CLV_OK, "%s", cases[i].name);
        if (cases[i].says)
            cr_expect(strstr(err.message, cases[i].says), "said: %s", err.message);
    }
    clv_onnx_close(file);
    clv_arena_free(arena);
}

Test(out_file, replaces_what_a_link_leads_to)
{
    struct stat st;
    put_and_commit("a.onnx", "old");
    cr_assert_eq(symlink("a.onnx", in_folder("link")), 0);
    put_and_commit("link", "new");
    holds(in_folder("a.onnx"), "new");
    cr_assert_eq(lstat(in_folder("link"), &st), 0);
    cr_assert(S_ISLNK(st.st_mode));
    cr_assert_eq(symlink("nothing", in_folder("dangling")), 0);
    cannot_open(in_folder("dangling"), CLV_EIO, "a link that leads nowhere");
    cr_assert_eq(clear(), 3);
}

/* /dev/stdout is such a link: renamed over, it would be gone for all programs. */
Test(out_file, refuses_names_of_open_files)
{
    char path[64];
    int fd = open(in_folder("a.onnx"), O_CREAT | O_WRONLY, 0600);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cannot_open(path, CLV_EIO, "/a.onnx, expected that name");
    close(fd);
}

Test(out_file, tries_without_leaving_anything)
{
    clv_error err;
    char name[300];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    cr_assert_eq(clv_out_try(in_folder("a.onnx"), NULL, &err), CLV_OK);
    cr_assert_eq(clv_out_try("/dev/full", NULL, &err), CLV_OK);
    cr_assert_eq(clv_out_try(in_folder("none/a.onnx"), NULL, &err), CLV_EIO);
    cr_assert_eq(clv_out_try(in_folder(name), NULL, &err), CLV_EIO);
    cr_assert(strstr(err.message, "File name too long"), "said: %s", err.message);
    cr_assert_eq(clear(), 0);
}

Test(out_file, says_that_a_device_is_full)
{
    clv_out_file *out = open_out("/dev/full");
    clv_sink sink = clv_out_sink(out);
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(sink.write(sink.ctx, "abc", 3, &err), CLV_EIO);
    cr_assert(strstr(err.message, "/dev/full: No space left"), "said: %s", err.message);
    clv_out_abort(out);
    cr_assert_eq(access("/dev/full", F_OK), 0, "it is still there");
}

/* A model of 3 MB of weights, on disk. */
static clv_onnx_file *big_input(void)
{
    clv_onnx_file *file = NULL;
    test_onnx *m = everything();
    const char *path = in_folder("big.onnx");
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        memset(onnx_weight(onnx_main(m), name, 2, "1000003")->raw_data.data, 'a' + i, 1000003);
    }
    onnx_write(m, path);
    onnx_free(m);
    cr_assert_eq(clv_onnx_open(path, NULL, &file, NULL), CLV_OK);
    return file;
}

Test(out_file, copies_ranges_of_the_input)
{
    clv_onnx_file *file = big_input(), *copy = NULL;
    const char *path = in_folder("copy.onnx");
    clv_out_file *out = open_out(path);
    clv_sink sink = clv_out_sink(out);
    size_t n = file->n;
    const char *bytes = (const char *)file->bytes;
    cr_assert_eq(sink.write(sink.ctx, bytes, 100, NULL), CLV_OK);
    cr_assert_eq(sink.from_file(sink.ctx, file, 100, n - 200, NULL), CLV_OK);
    cr_assert_eq(sink.write(sink.ctx, bytes + n - 100, 100, NULL), CLV_OK);
    cr_assert_eq(clv_out_commit(out, NULL), CLV_OK);
    cr_assert_eq(clv_onnx_open(path, NULL, &copy, NULL), CLV_OK);
    const char *copied = (const char *)copy->bytes;
    cr_assert_eq(copy->n, n);
    cr_assert_eq(memcmp(copied, bytes, n), 0);
    clv_onnx_close(copy);
    clv_onnx_close(file);
}

Test(out_file, copies_to_what_the_kernel_cannot_copy_to)
{
    clv_onnx_file *file = big_input();
    clv_out_file *out = open_out("/dev/null");
    clv_sink sink = clv_out_sink(out);
    cr_assert_eq(sink.from_file(sink.ctx, file, 5, 2000000, NULL), CLV_OK);
    cr_assert_eq(clv_out_commit(out, NULL), CLV_OK);
    clv_onnx_close(file);
}

/* The limit on a file's size plays the full disk: writing past it fails with EFBIG. */
Test(out_file, leaves_nothing_on_a_full_disk)
{
    clv_onnx_file *file = big_input();
    struct rlimit limit = { 1000000, 1000000 };
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    clv_out_file *out = open_out(in_folder("copy.onnx"));
    clv_sink sink = clv_out_sink(out);
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(sink.from_file(sink.ctx, file, 0, 2000000, &err), CLV_EIO);
    cr_assert(strstr(err.message, "cannot write"), "said: %s", err.message);
    clv_out_abort(out);
    clv_onnx_close(file);
    cr_assert_eq(clear(), 1, "only the input");
}

/* A file system of 512 KiB in a mount table of our own; false where that is not allowed. */
static bool mount_small_disk(void)
{
    return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, "size=512k") == 0;
}

Test(out_file, leaves_nothing_on_a_disk_that_is_really_full)
{
    clv_onnx_file *file = big_input(); /* beneath what is mounted over it; it stays open */
    if (!mount_small_disk())
        cr_skip_test("a file system of our own cannot be mounted here");
    for (int by_range = 0; by_range < 2; by_range++) {
        clv_out_file *out = open_out(in_folder("copy.onnx"));
        clv_sink sink = clv_out_sink(out);
        clv_error err = { CLV_OK, "" };
        size_t n = file->n;
        const void *bytes = file->bytes;
        clv_status s = by_range ? sink.from_file(sink.ctx, file, 7, n - 7, &err)
                                : sink.write(sink.ctx, bytes, n, &err);
        cr_assert_eq(s, CLV_EIO);
        cr_assert(strstr(err.message, "No space left on device"), "said: %s", err.message);
        clv_out_abort(out);
        cr_assert_eq(clear(), 0);
    }
    clv_onnx_close(file);
    cr_assert_eq(umount(folder), 0);
}
