#include "support/run.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void give_up(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    abort();
}

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        give_up("asprintf");
    return path;
}

char *file_text(const char *folder, const char *name, size_t *ret_n)
{
    char *path = join(folder, name);
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, cap = 0;

    free(path);
    if (!f)
        return NULL;
    do {
        cap = cap ? cap * 2 : 4096;
        text = realloc(text, cap + 1);
        if (!text)
            give_up("realloc");
        n += fread(text + n, 1, cap - n, f);
    } while (n == cap);
    text[n] = '\0';
    fclose(f);
    if (ret_n)
        *ret_n = n;
    return text;
}

void file_write(const char *folder, const char *name, const void *bytes, size_t n)
{
    char *path = join(folder, name);
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        give_up(path);
    free(path);
}

bool file_same(const char *folder, const char *a, const char *b)
{
    size_t na = 0, nb = 0;
    char *x = file_text(folder, a, &na), *y = file_text(folder, b, &nb);
    bool same = x && y && na == nb && memcmp(x, y, na) == 0;

    free(x);
    free(y);
    return same;
}

static pid_t start(const char *folder, const char *line, const char *logs)
{
    pid_t pid = fork();

    if (pid < 0)
        give_up("fork");
    if (pid > 0)
        return pid;
    char *out = join(logs, "out"), *err = join(logs, "err");
    if (chdir(folder) != 0 || !freopen("/dev/null", "r", stdin) || !freopen(out, "w", stdout) ||
        !freopen(err, "w", stderr))
        _exit(126);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

run_result run_in(const char *folder, const char *line, ...)
{
    va_list args;
    char *text = NULL;
    int status = 0;
    run_result r = { 0 };

    va_start(args, line);
    if (vasprintf(&text, line, args) < 0)
        give_up("vasprintf");
    va_end(args);
    char *logs = folder_new();
    pid_t pid = start(folder, text, logs);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            give_up("waitpid");
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r.out = file_text(logs, "out", NULL);
    r.err = file_text(logs, "err", NULL);
    if (!r.out || !r.err)
        give_up(text);
    folder_free(logs);
    free(text);
    return r;
}

void run_free(run_result *r)
{
    free(r->out);
    free(r->err);
}

char *folder_new(void)
{
    const char *base = getenv("TMPDIR");
    char *path = join(base && *base ? base : "/tmp", "cleave-test-XXXXXX");

    if (!mkdtemp(path))
        give_up(path);
    return path;
}

static int each_entry(const char *folder, void (*visit)(const char *path))
{
    DIR *dir = opendir(folder);
    int n = 0;

    if (!dir)
        give_up(folder);
    for (struct dirent *e; (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        char *path = join(folder, e->d_name);
        if (visit)
            visit(path);
        free(path);
        n++;
    }
    closedir(dir);
    return n;
}

static void remove_path(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        each_entry(path, remove_path);
        rmdir(path);
    } else {
        unlink(path);
    }
}

int folder_count(const char *folder) { return each_entry(folder, NULL); }

size_t text_width(const char *text)
{
    size_t most = 0;
    while (*text) {
        size_t n = strcspn(text, "\n");
        most = n > most ? n : most;
        text += n + (text[n] != '\0');
    }
    return most;
}

void folder_free(char *folder)
{
    remove_path(folder);
    free(folder);
}

/* -- for tests of the command -- */

run_result run_cleave(const char *folder, int code, const char *command, const char *arguments)
{
    run_result r = run_in(folder, "%s %s %s", TEST_CLEAVE, command, arguments);
    cr_expect_eq(r.code, code, "'%s' gave %d: %s%s", arguments, r.code, r.out, r.err);
    return r;
}

void run_says(const char *folder, int code, const char *command, const char *arguments,
              const char *words)
{
    run_result r = run_cleave(folder, code, command, arguments);
    cr_expect(strstr(r.out, words), "'%s' printed: %s%s", arguments, r.out, r.err);
    run_free(&r);
}

void run_refused(const char *folder, int code, const char *command, const char *arguments,
                 const char *words)
{
    run_result r = run_cleave(folder, code, command, arguments);
    char *end = strchr(r.err, '\n');
    cr_expect_str_empty(r.out, "'%s' printed: %s", arguments, r.out);
    cr_expect(end && end[1] == '\0', "'%s' said: %s", arguments, r.err);
    cr_expect(strncmp(r.err, "cleave: ", 8) == 0, "'%s' said: %s", arguments, r.err);
    cr_expect(strstr(r.err, words), "'%s' said: %s", arguments, r.err);
    run_free(&r);
}

void run_is_valid(const char *folder, const char *schema, const char *file)
{
    run_result r = run_in(folder,
                          "python3 - <<'E'\n"
                          "import json, jsonschema\n"
                          "s = json.load(open('%s/docs/formats/%s.schema.json'))\n"
                          "jsonschema.Draft202012Validator.check_schema(s)\n"
                          "jsonschema.Draft202012Validator(s).validate(json.load(open('%s')))\n"
                          "E",
                          TEST_SOURCE_DIR, schema, file);
    cr_expect_eq(r.code, 0, "%s: %s", file, r.err);
    run_free(&r);
}

void run_is_true(const char *folder, const char *judge, const char *problem, const char *solution)
{
    run_result r = run_in(folder, "python3 %s/tests/bench/%s %s %s", TEST_SOURCE_DIR, judge,
                          problem, solution);
    cr_expect_eq(r.code, 0, "%s: %s%s", problem, r.out, r.err);
    run_free(&r);
}
