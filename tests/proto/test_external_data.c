#include "proto/external_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/onnx_read.h"

#include <criterion/criterion.h>

#include "support/onnx_builder.h"

/* A folder with w.bin (100 bytes), sub/v.bin (10 bytes), a folder "dir", and links: in -> w.bin,
 * out -> /etc/hostname's folder. */
static char folder[] = "/tmp/clv_external_XXXXXX";
static clv_arena *arena;
static clv_external ext;
static clv_onnx_file *beside; /* of bytes, with the folder beside it */

static void make_file(const char *name, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    for (size_t i = 0; i < n; i++)
        putc('x', f);
    fclose(f);
}

static void set_up(void)
{
    char path[256];
    cr_assert_not_null(mkdtemp(folder));
    make_file("w.bin", 100);
    snprintf(path, sizeof path, "%s/sub", folder);
    mkdir(path, 0700);
    make_file("sub/v.bin", 10);
    snprintf(path, sizeof path, "%s/in", folder);
    cr_assert_eq(symlink("w.bin", path), 0);
    snprintf(path, sizeof path, "%s/out", folder);
    cr_assert_eq(symlink("/etc", path), 0);
    arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_onnx_open_bytes("x", 1, folder, NULL, &beside, NULL), CLV_OK);
    cr_assert_eq(clv_external_init(&ext, beside, arena, NULL), CLV_OK);
}

static void tear_down(void)
{
    char path[256];
    const char *const names[] = { "w.bin", "sub/v.bin", "sub", "in", "out", "m.onnx" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    rmdir(folder);
    clv_onnx_close(beside);
    clv_arena_free(arena);
}

TestSuite(external_data, .init = set_up, .fini = tear_down);

static clv_const tensor(const char *location, int64_t offset, int64_t length, int64_t bytes)
{
    return (clv_const){ .name = clv_str_of("w"),
                        .dtype = CLV_DT_UINT8,
                        .external = true,
                        .location = clv_str_of(location),
                        .offset = offset,
                        .length = length,
                        .elems = bytes,
                        .bytes = bytes };
}

static void takes(const char *location, int64_t offset, int64_t length, int64_t bytes)
{
    clv_error err = { CLV_OK, "" };
    clv_const t = tensor(location, offset, length, bytes);
    cr_assert_eq(clv_external_check(&ext, &t, &err), CLV_OK, "said: %s", err.message);
}

static void refuses(const char *location, int64_t offset, int64_t length, int64_t bytes,
                    const char *says)
{
    clv_error err = { CLV_OK, "" };
    clv_const t = tensor(location, offset, length, bytes);
    cr_assert_eq(clv_external_check(&ext, &t, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "'w'") && strstr(err.message, says), "said: %s", err.message);
}

Test(external_data, takes_what_lies_in_the_folder)
{
    takes("w.bin", 0, 100, 100);
    takes("w.bin", 90, -1, 10);
    takes("./sub/v.bin", 0, 10, 10);
    takes("sub/v.bin", 10, 0, 0);
    takes("in", 0, -1, 100);
    takes("..w.bin", 0, -1, 5); /* two dots that are no component; the file is missing */
}

Test(external_data, refuses_what_leads_out_of_the_folder)
{
    refuses("/etc/hostname", 0, -1, 1, "is absolute");
    refuses("../w.bin", 0, -1, 1, "has '..' in it");
    refuses("sub/../w.bin", 0, -1, 1, "has '..' in it");
    refuses("sub/..", 0, -1, 1, "has '..' in it");
    refuses("out/passwd", 0, -1, 1, "leads out of the folder");
    refuses("", 0, -1, 1, "is empty");
    refuses("sub", 0, -1, 1, "not a regular file");
    clv_error err;
    clv_const t = tensor("w.bin", 0, -1, 1);
    t.location = (clv_str){ "w.bin\0x", 7 };
    cr_assert_eq(clv_external_check(&ext, &t, &err), CLV_EFORMAT);
}

Test(external_data, refuses_offsets_and_lengths_past_the_end)
{
    refuses("w.bin", 91, -1, 10, "needs 10 bytes at offset 91 of 'w.bin', which has 100");
    refuses("w.bin", 101, -1, 0, "offset 101");
    refuses("w.bin", INT64_MAX, -1, 10, "offset 9223372036854775807");
    refuses("w.bin", 0, 20, 10, "external length is 20 bytes, its dimensions and type need 10");
}

Test(external_data, looks_each_file_up_once)
{
    for (int i = 0; i < 1000; i++)
        takes("w.bin", i % 100, -1, 1);
    takes("missing.bin", 0, -1, 1);
    takes("missing.bin", 5, -1, 1);
    cr_assert_eq(ext.n_files, 2);
    cr_assert(ext.files[0].size == 100 && ext.files[1].size == -1);
}

Test(external_data, reads_numbers_without_signs_or_letters)
{
    int64_t n = 7;
    cr_assert(clv_external_number(clv_str_of("0"), &n) && n == 0);
    cr_assert(clv_external_number(clv_str_of("9223372036854775807"), &n) && n == INT64_MAX);
    cr_assert_not(clv_external_number(clv_str_of("9223372036854775808"), &n));
    cr_assert_not(clv_external_number(clv_str_of("-1"), &n));
    cr_assert_not(clv_external_number(clv_str_of("12x"), &n));
    cr_assert_not(clv_external_number(clv_str_of(""), &n));
    cr_assert_eq(n, INT64_MAX, "a failed call leaves its result alone");
}

static clv_status read_with(const char *offset, const char *location, clv_model **model,
                            clv_error *err)
{
    char path[256];
    clv_onnx_file *file = NULL;
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "5");
    onnx_output(g, "y", 1, "5");
    onnx_node(g, "Add", "", "x,w", "y");
    onnx_weight_external(g, "w", 1, "5", location, offset ? 0 : -1, 20);
    if (location)
        onnx_weight_external(g, "again", 1, "5", location, 0, -1);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    *model = NULL;
    cr_assert_eq(clv_onnx_open(path, NULL, &file, err), CLV_OK);
    clv_status s = clv_onnx_read(file, arena, model, err);
    if (s == CLV_OK) /* what is asked below lies in the arena, not in the map */
        cr_assert((*model)->main->n_weights == 2 && (*model)->main->weights[0].external);
    clv_onnx_close(file);
    return s;
}

Test(external_data, warns_once_of_a_missing_file)
{
    clv_model *model;
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(read_with("0", "nowhere.bin", &model, &err), CLV_OK, "said: %s", err.message);
    int found = 0;
    for (int32_t i = 0; i < model->n_warnings; i++)
        found += memmem(model->warnings[i].at, (size_t)model->warnings[i].n, "'nowhere.bin'", 13) !=
                 NULL;
    cr_assert_eq(found, 1);
}

Test(external_data, is_looked_for_beside_the_model)
{
    clv_model *model;
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(read_with("0", "w.bin", &model, &err), CLV_OK, "said: %s", err.message);
    cr_assert_eq(model->n_warnings, 0);
    cr_assert_eq(read_with("0", "out/passwd", &model, &err), CLV_EFORMAT);
    cr_assert_eq(read_with("0", NULL, &model, &err), CLV_EFORMAT);
}
