#include "run/batch_list.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

#define LIST_MAX ((size_t)1 << 30) /* bytes of a list */
/* What ONNX's own backend tests allow. */
#define RTOL 1e-3
#define ATOL 1e-7

static clv_status read_files(const clv_json_at *root, const char *key, clv_arena *arena,
                             clr_named_file **ret, int32_t *ret_n, clv_error *err)
{
    clv_json_at object, member;
    int32_t cap = 0;

    CLV_TRY(clv_json_member(root, key, false, &object, err));
    if (!object.json)
        return CLV_OK;
    if (!clv_json_is_object(&object))
        return clv_fail(err, CLV_EFORMAT, "%s: %s is not an object of names and paths", root->key,
                        key);
    member = clv_json_next_member(&object, NULL);
    while (member.json) {
        if (!CLV_PUSH_ROOM(arena, *ret, *ret_n, cap))
            return clv_fail_nomem(err, "the list");
        clr_named_file *f = &(*ret)[(*ret_n)++];
        f->name = clv_arena_printf(arena, "%s", member.key);
        if (!f->name)
            return clv_fail_nomem(err, "the list");
        CLV_TRY(clv_json_copy_string(&member, arena, &f->path, err));
        clv_json_at before = member;
        member = clv_json_next_member(&object, &before);
    }
    return CLV_OK;
}

static clv_status read_text(const clv_json_at *root, const char *key, bool required,
                            clv_arena *arena, const char **ret, clv_error *err)
{
    clv_json_at member;

    CLV_TRY(clv_json_member(root, key, required, &member, err));
    return member.json ? clv_json_copy_string(&member, arena, ret, err) : CLV_OK;
}

static clv_status read_number(const clv_json_at *root, const char *key, double *ret, clv_error *err)
{
    clv_json_at member;

    CLV_TRY(clv_json_member(root, key, false, &member, err));
    return member.json ? clv_json_number(&member, 0, 1e300, ret, err) : CLV_OK;
}

static clv_status read_entry(const clv_json_at *root, clv_arena *arena, clr_batch_entry *ret,
                             clv_error *err)
{
    static const char *const keys[] = { "id",      "model", "data", "inputs",
                                        "outputs", "rtol",  "atol", NULL };

    *ret = (clr_batch_entry){ .tolerance = { RTOL, ATOL } };
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(read_text(root, "id", false, arena, &ret->id, err));
    CLV_TRY(read_text(root, "model", true, arena, &ret->model, err));
    CLV_TRY(read_text(root, "data", false, arena, &ret->data, err));
    CLV_TRY(read_number(root, "rtol", &ret->tolerance.rtol, err));
    CLV_TRY(read_number(root, "atol", &ret->tolerance.atol, err));
    CLV_TRY(read_files(root, "inputs", arena, &ret->inputs, &ret->n_inputs, err));
    return read_files(root, "outputs", arena, &ret->outputs, &ret->n_outputs, err);
}

/* where: names the line in messages. */
static clv_status read_line(const char *where, const char *text, size_t n, clv_arena *arena,
                            clr_batch_entry *ret, clv_error *err)
{
    clv_json *json = NULL;

    CLV_TRY(clv_json_parse_line(text, n, where, &json, err));
    clv_json_at root = clv_json_root(json, where);
    clv_status status = read_entry(&root, arena, ret, err);
    clv_json_free(json);
    return status;
}

clv_status clr_batch_list_read(const char *path, clv_arena *arena, clr_batch_entry **ret,
                               int32_t *ret_n, clv_error *err)
{
    const char *text = NULL;
    size_t left = 0;
    clr_batch_entry *all = NULL;
    int32_t n = 0, cap = 0;

    CLV_TRY(clv_read_file(path, LIST_MAX, arena, &text, &left, err));
    for (int number = 1; left > 0; number++) {
        const char *end = memchr(text, '\n', left);
        size_t length = end ? (size_t)(end - text) : left;
        if (strspn(text, " \t\r") < length) {
            char where[200]; /* as much as messages show of it */
            if (!CLV_PUSH_ROOM(arena, all, n, cap))
                return clv_fail_nomem(err, "the list");
            snprintf(where, sizeof where, "%.180s: line %d", path, number);
            CLV_TRY(read_line(where, text, length, arena, &all[n], err));
            all[n].number = n;
            n++;
        }
        text += length + (end != NULL);
        left -= length + (end != NULL);
    }
    *ret = all;
    *ret_n = n;
    return CLV_OK;
}
