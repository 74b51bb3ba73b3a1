/* made.h - small models and manifests for the tests of cleave-run, in a folder that goes again. */
#ifndef CLV_TESTS_RUN_MADE_H
#define CLV_TESTS_RUN_MADE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

#define FLOAT 1
#define INT64 7

static char *folder;

static inline void set_up(void) { folder = folder_new(); }
static inline void tear_down(void) { folder_free(folder); }

static inline void write_text(const char *name, const char *text)
{
    file_write(folder, name, text, strlen(text));
}

static inline void write_model(test_onnx *m, const char *name)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

static inline test_onnx *new_model(void)
{
    test_onnx *m = onnx_new(8, 17);

    onnx_opset(m, "com.microsoft", 1);
    return m;
}

/* "cleave-run ARGUMENTS" in the folder ends with that code. */
static inline run_result cleave_run(int code, const char *arguments)
{
    run_result r = run_in(folder, "%s/cleave-run %s", TEST_BINARY_DIR, arguments);

    cr_expect_eq(r.code, code, "cleave-run %s: %d, %s%s", arguments, r.code, r.out, r.err);
    return r;
}

static inline void says(int code, const char *arguments, const char *words)
{
    run_result r = cleave_run(code, arguments);

    cr_expect(strstr(r.out, words), "'%s' printed: %s%s", arguments, r.out, r.err);
    run_free(&r);
}

/* One line on standard error with these words, and nothing printed. */
static inline void refused(int code, const char *arguments, const char *words)
{
    run_result r = cleave_run(code, arguments);
    char *end = strchr(r.err, '\n');

    cr_expect_str_empty(r.out, "'%s' printed: %s", arguments, r.out);
    cr_expect(end && end[1] == '\0', "'%s' said: %s", arguments, r.err);
    cr_expect(strstr(r.err, words), "'%s' said: %s", arguments, r.err);
    run_free(&r);
}

/* The file holds these numbers, by NumPy's own reader; whole ones, written as a Python list. */
static inline void holds(const char *file, const char *list)
{
    run_result r = run_in(folder,
                          "/usr/bin/python3 -c \"import numpy; a = numpy.load('%s').tolist(); "
                          "assert a == %s, a\"",
                          file, list);

    cr_expect_eq(r.code, 0, "%s: %s", file, r.err);
    run_free(&r);
}

static inline void save_npy(const char *file, const char *dtype, const char *list)
{
    run_result r = run_in(folder,
                          "/usr/bin/python3 -c \"import numpy; numpy.save('%s', numpy.array(%s, "
                          "numpy.%s))\"",
                          file, list, dtype);

    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

#endif
