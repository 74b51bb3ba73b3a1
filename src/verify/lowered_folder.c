#include "verify/lowered_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/json.h"
#include "base/open_inside.h"
#include "base/text_digest.h"
#include "lower/manifest.h"

#define WHAT         "comparing folders"
#define MANIFEST_MAX ((size_t)1 << 30)

static clv_status read_manifest(const char *folder, clv_arena *arena, clv_json **ret,
                                clv_error *err)
{
    const char *text, *path = clv_arena_printf(arena, "%s/" CLV_MANIFEST_NAME, folder);
    const clv_folder_file file = { folder, CLV_MANIFEST_NAME, MANIFEST_MAX };
    size_t n;
    if (!path)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_read_folder_file(&file, arena, &text, &n, err));
    return clv_json_parse(text, n, path, ret, err);
}

/* -- how it was written -- */

static bool ends(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* By the names of the files: a checkpoint, or a list of ranges, is there in one kind only. */
static clv_status read_weights(const clv_json_at *root, clv_lowering *ret, clv_error *err)
{
    clv_json_at files, at = { 0 };
    int32_t n = 0;
    CLV_TRY(clv_json_member(root, "files", true, &files, err));
    CLV_TRY(clv_json_length(&files, &n, err));
    ret->weights = CLV_PARTS_EXTERNAL;
    for (int32_t i = 0; i < n; i++) {
        clv_json_at name;
        const char *text;
        at = clv_json_element(&files, i, i ? &at : NULL);
        CLV_TRY(clv_json_member(&at, "file", true, &name, err));
        CLV_TRY(clv_json_string(&name, &text, err));
        if (ends(text, ".safetensors"))
            ret->weights = CLV_PARTS_SAFETENSORS;
        else if (ends(text, ".ranges.json"))
            ret->weights = CLV_PARTS_RANGES;
    }
    return CLV_OK;
}

static clv_status read_form(const clv_json_at *root, clv_lowering *ret, clv_error *err)
{
    clv_json_at form, dialect;
    const char *word;
    CLV_TRY(clv_json_member(root, "form", true, &form, err));
    CLV_TRY(clv_json_string(&form, &word, err));
    ret->form = CLV_N_FORMS;
    for (int32_t f = 0; f < CLV_N_FORMS; f++)
        if (strcmp(clv_lower_form_name((clv_lower_form)f), word) == 0)
            ret->form = (clv_lower_form)f;
    if (ret->form == CLV_N_FORMS)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: form is '%.40s', expected stages, devices, emulate, "
                        "ort-options or olive",
                        word);
    ret->dialect = CLV_DIALECT_ORT;
    CLV_TRY(clv_json_member(root, "dialect", false, &dialect, err));
    if (dialect.json) {
        CLV_TRY(clv_json_string(&dialect, &word, err));
        if (strcmp(word, "tensorrt") == 0)
            ret->dialect = CLV_DIALECT_TENSORRT;
    }
    return read_weights(root, ret, err);
}

clv_status clv_lowered_folder_form(const char *folder, clv_arena *arena, clv_lowering *ret,
                                   clv_error *err)
{
    clv_json *json = NULL;
    CLV_TRY(read_manifest(folder, arena, &json, err));
    clv_json_at root = clv_json_root(json, CLV_MANIFEST_NAME);
    clv_status status = read_form(&root, ret, err);
    clv_json_free(json);
    return status;
}

/* -- manifests -- */

typedef struct {
    clv_arena *arena;
    const char *fault; /* NULL: none so far */
    const clv_map *beside;
    int got; /* the folder that is judged */
} finding;

static clv_status find(finding *f, const clv_json_at *at, const char *what, clv_error *err)
{
    char path[256];
    f->fault = clv_arena_printf(f->arena, "%s: %s", clv_json_path(at, path, sizeof path), what);
    return f->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
}

static clv_status find_value(finding *f, const clv_json_at *at, const char *got, const char *want,
                             clv_error *err)
{
    char words[400];
    snprintf(words, sizeof words, "it is %.150s, expected %.150s", got, want);
    return find(f, at, words, err);
}

/* Text, number or word, to be shown. */
static const char *show(const clv_json_at *at, char *buf, size_t size)
{
    const char *text;
    double number;
    bool truth;
    if (clv_json_is_object(at))
        snprintf(buf, size, "an object");
    else if (clv_json_is_array(at))
        snprintf(buf, size, "a list");
    else if (clv_json_string(at, &text, NULL) == CLV_OK)
        snprintf(buf, size, "'%s'", text);
    else if (clv_json_number(at, -1e300, 1e300, &number, NULL) == CLV_OK)
        snprintf(buf, size, "%.17g", number);
    else if (clv_json_bool(at, &truth, NULL) == CLV_OK)
        snprintf(buf, size, "%s", truth ? "true" : "false");
    else
        snprintf(buf, size, "null");
    return buf;
}

static clv_status compare_values(finding *f, const clv_json_at *got, const clv_json_at *want,
                                 clv_error *err);

static clv_status compare_lists(finding *f, const clv_json_at *got, const clv_json_at *want,
                                clv_error *err)
{
    clv_json_at a = { 0 }, b = { 0 };
    int32_t n_got = 0, n_want = 0;
    CLV_TRY(clv_json_length(got, &n_got, err));
    CLV_TRY(clv_json_length(want, &n_want, err));
    for (int32_t i = 0; i < n_got && i < n_want && !f->fault; i++) {
        a = clv_json_element(got, i, i ? &a : NULL);
        b = clv_json_element(want, i, i ? &b : NULL);
        CLV_TRY(compare_values(f, &a, &b, err));
    }
    if (f->fault || n_got == n_want)
        return CLV_OK;
    char words[80];
    snprintf(words, sizeof words, "it has %d elements, expected %d", (int)n_got, (int)n_want);
    return find(f, got, words, err);
}

/* The digest is looked at by whoever runs the folder. The plan in it is what the folder says that
 * it was lowered of: the folder is judged by the one that was given, or by that. A model is known
 * by its fingerprint, whatever its file is called. */
static bool is_compared(const clv_json_at *object, const char *key)
{
    if (!object->parent)
        return strcmp(key, CLV_TEXT_DIGEST) != 0 && strcmp(key, CLV_MANIFEST_PLAN) != 0;
    bool is_model =
        !object->parent->parent && object->key && strcmp(object->key, CLV_MANIFEST_MODEL) == 0;
    return !is_model || strcmp(key, "name") != 0;
}

static clv_status compare_objects(finding *f, const clv_json_at *got, const clv_json_at *want,
                                  clv_error *err)
{
    clv_json_at a, b;
    char words[200];
    const char *key;
    for (int32_t i = 0; (key = clv_json_key_at(want, i)) && !f->fault; i++) {
        if (!is_compared(want, key))
            continue;
        CLV_TRY(clv_json_member(want, key, true, &b, err));
        CLV_TRY(clv_json_member(got, key, false, &a, err));
        if (a.json) {
            CLV_TRY(compare_values(f, &a, &b, err));
            continue;
        }
        snprintf(words, sizeof words, "'%.100s' is missing", key);
        return find(f, got, words, err);
    }
    for (int32_t i = 0; (key = clv_json_key_at(got, i)) && !f->fault; i++) {
        CLV_TRY(clv_json_member(want, key, false, &b, err));
        if (b.json || !is_compared(want, key))
            continue;
        snprintf(words, sizeof words, "'%.100s' is not expected", key);
        return find(f, got, words, err);
    }
    return CLV_OK;
}

static clv_status compare_values(finding *f, const clv_json_at *got, const clv_json_at *want,
                                 clv_error *err)
{
    char a[200], b[200];
    if (clv_json_is_object(got) && clv_json_is_object(want))
        return compare_objects(f, got, want, err);
    if (clv_json_is_array(got) && clv_json_is_array(want))
        return compare_lists(f, got, want, err);
    return strcmp(show(got, a, sizeof a), show(want, b, sizeof b)) == 0
               ? CLV_OK
               : find_value(f, got, a, b, err);
}

static clv_status compare_manifests(finding *f, const char *got, const char *want, clv_error *err)
{
    clv_json *a = NULL, *b = NULL;
    clv_status status = read_manifest(got, f->arena, &a, err);
    if (status == CLV_OK)
        status = read_manifest(want, f->arena, &b, err);
    if (status == CLV_OK) {
        clv_json_at root = clv_json_root(a, CLV_MANIFEST_NAME);
        clv_json_at right = clv_json_root(b, CLV_MANIFEST_NAME);
        status = compare_values(f, &root, &right, err);
    }
    clv_json_free(a);
    clv_json_free(b);
    return status;
}

/* -- files -- */

static clv_status compare_file(finding *f, const char *got, const char *want, const char *name,
                               clv_error *err)
{
    clv_file_inside a = { f->got, name, clv_arena_printf(f->arena, "%s/%s", got, name) };
    const char *b = clv_arena_printf(f->arena, "%s/%s", want, name);
    char is[CLV_CHECKSUM_TEXT], right[CLV_CHECKSUM_TEXT];
    clv_checksum sum, expected;
    int64_t bytes, n_expected;
    int fd = -1;
    clv_file_id id;
    if (!a.path || !b)
        return clv_fail_nomem(err, WHAT);
    if (clv_open_inside(f->got, name, O_RDONLY | O_NOFOLLOW, &fd, &id) != CLV_INSIDE_OPENED) {
        f->fault = clv_arena_printf(f->arena, "%s is no file of the folder, expected one", name);
        return f->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
    }
    CLV_TRY(clv_checksum_opened(fd, a.path, f->arena, &sum, &bytes, err));
    CLV_TRY(clv_checksum_file(b, f->arena, &expected, &n_expected, err));
    if (bytes == n_expected && clv_checksum_eq(sum, expected))
        return CLV_OK;
    f->fault = clv_arena_printf(f->arena,
                                "%s is not what the plan gives: it has %lld bytes of checksum %s, "
                                "expected %lld of %s",
                                name, (long long)bytes, clv_checksum_text(is, sum),
                                (long long)n_expected, clv_checksum_text(right, expected));
    return f->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
}

static int count_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static void free_entries(struct dirent **entries, int n)
{
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
}

/* Each file of want; and got has no other. */
static clv_status compare_listings(finding *f, const char *got, const char *want, clv_error *err)
{
    struct dirent **have = NULL, **should = NULL;
    int n_have = scandir(got, &have, count_entry, alphasort);
    int n_should = scandir(want, &should, count_entry, alphasort);
    clv_status status = CLV_OK;
    if (n_have < 0 || n_should < 0)
        status =
            clv_fail(err, CLV_EIO, "cannot list %s: %s", n_have < 0 ? got : want, strerror(errno));
    for (int i = 0; i < n_should && status == CLV_OK && !f->fault; i++)
        if (strcmp(should[i]->d_name, CLV_MANIFEST_NAME) != 0)
            status = compare_file(f, got, want, should[i]->d_name, err);
    for (int i = 0, k = 0; i < n_have && status == CLV_OK && !f->fault; i++) {
        while (k < n_should && strcmp(should[k]->d_name, have[i]->d_name) < 0)
            k++;
        if (k < n_should && strcmp(should[k]->d_name, have[i]->d_name) == 0)
            continue;
        if (clv_map_get(f->beside, clv_str_of(have[i]->d_name)) >= 0)
            continue;
        f->fault = clv_arena_printf(f->arena, "%s is not of the plan's files", have[i]->d_name);
        if (!f->fault)
            status = clv_fail_nomem(err, WHAT);
    }
    free_entries(have, n_have);
    free_entries(should, n_should);
    return status;
}

clv_status clv_lowered_folder_compare(const char *got, const char *want, const clv_map *beside,
                                      clv_arena *arena, const char **ret_fault, clv_error *err)
{
    finding f = { .arena = arena, .beside = beside, .got = clv_open_folder(got) };
    if (f.got < 0)
        return clv_fail(err, CLV_EIO, "cannot list %s: %s", got, strerror(errno));
    clv_status status = compare_listings(&f, got, want, err);
    if (status == CLV_OK && !f.fault)
        status = compare_manifests(&f, got, want, err);
    close(f.got);
    *ret_fault = f.fault;
    return status;
}
