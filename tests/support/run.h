/* run.h - runs a shell line as a user would and keeps what it said; a folder that goes again.
 *
 *     test_folder = folder_new();
 *     run_result r = run_in(test_folder, "%s plan model.onnx", TEST_CLEAVE);
 *     cr_assert_eq(r.code, 0, "%s", r.err);
 *     run_free(&r);
 *     folder_free(test_folder);
 *
 * The shell is /bin/sh in that folder, without a terminal. Failing to run ends the test program.
 */
#ifndef CLV_TESTS_RUN_H
#define CLV_TESTS_RUN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int code; /* exit code; 128 + signal */
    char *out, *err;
} run_result;

run_result run_in(const char *folder, const char *line, ...) __attribute__((format(printf, 2, 3)));
void run_free(run_result *r);

char *folder_new(void);               /* malloc'd path under TMPDIR or /tmp */
void folder_free(char *folder);       /* with all in it */
int folder_count(const char *folder); /* entries, without . and .. */
size_t text_width(const char *text);  /* columns of the longest line */

/* malloc'd, with a NUL behind it; NULL when the file is not there. */
char *file_text(const char *folder, const char *name, size_t *ret_n);
void file_write(const char *folder, const char *name, const void *bytes, size_t n);
bool file_same(const char *folder, const char *a, const char *b);

/* -- for tests of the command: each fails the test that is running, where it is not so -- */

/* "cleave COMMAND ARGUMENTS" ends with that code. */
run_result run_cleave(const char *folder, int code, const char *command, const char *arguments);
/* And it prints these words. */
void run_says(const char *folder, int code, const char *command, const char *arguments,
              const char *words);
/* Or has these words in its one line on standard error, and prints nothing. */
void run_refused(const char *folder, int code, const char *command, const char *arguments,
                 const char *words);
/* The file is as docs/formats/SCHEMA.schema.json wants it. */
void run_is_valid(const char *folder, const char *schema, const char *file);
/* tests/bench/JUDGE, which knows none of our code, finds in the solution what it says. */
void run_is_true(const char *folder, const char *judge, const char *problem, const char *solution);

#endif
