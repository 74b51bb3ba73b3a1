/* placement_text.h - a placement spec's file from text, and as text again, to see that nothing is
 * lost on the way. */
#ifndef CLV_TESTS_SUPPORT_PLACEMENT_TEXT_H
#define CLV_TESTS_SUPPORT_PLACEMENT_TEXT_H

#include <string.h>

#include "notation/placement_json.h"
#include "weights/placement_file.h"

/* what names the file in messages. */
static inline clv_status placement_text_read(const char *text, size_t n, const char *what,
                                             clv_arena *arena, clv_placement_file *ret,
                                             clv_error *err)
{
    clv_json *json = NULL;

    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = clv_placement_file_of_json(&root, arena, ret, err);
    clv_json_free(json);
    return status;
}

static inline const char *placement_name_text(clv_str s, clv_json_out *out)
{
    const char *text = clv_arena_printf(out->arena, "%.*s", CLV_STR_ARG(s));

    out->failed |= text == NULL;
    return text ? text : "";
}

static inline void placement_put_lists(const clv_placement_file *file, clv_json_out *out)
{
    clv_json_open_array(out, "devices");
    for (int32_t i = 0; i < file->devices.n; i++) {
        const char *text = clv_remote_device_print(&file->devices.at[i], out->arena);
        out->failed |= text == NULL;
        clv_json_put_string(out, NULL, text);
    }
    clv_json_close_array(out);
    if (file->n_names == 0)
        return;
    clv_json_open_object(out, "names");
    for (int32_t i = 0; i < file->n_names; i++) {
        clv_json_open_array(out, placement_name_text(file->names[i].name, out));
        for (int32_t k = 0; k < file->names[i].n; k++)
            clv_json_put_string(out, NULL, file->names[i].dims[k]);
        clv_json_close_array(out);
    }
    clv_json_close_object(out);
}

/* The file as text, from which it can be read again. */
static inline clv_status placement_text_write(const clv_placement_file *file, clv_arena *arena,
                                              const char **ret, clv_error *err)
{
    clv_json_out out;

    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_placement_spec_write(&out, "spec", file->spec);
    placement_put_lists(file, &out);
    clv_json_put_string(&out, "cannot_apply", file->skip ? "skip" : "refuse");
    clv_json_put_string(&out, "others", file->copy_others ? "copy" : "leave");
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    return CLV_OK;
}

#endif
