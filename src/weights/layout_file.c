#include "weights/layout_file.h"

#include "weights/weight_layout_json.h"

static clv_status read_spec(const clv_json_at *root, const clv_weight_list *weights,
                            clv_arena *arena, clv_weight_layout *ret, clv_placement_notes *notes,
                            clv_error *err)
{
    clv_placement_file file;

    CLV_TRY(clv_placement_file_of_json(root, arena, &file, err));
    return clv_placement_file_apply(&file, weights, arena, ret, notes, err);
}

static clv_status read_root(const clv_json_at *root, const clv_weight_list *weights,
                            clv_arena *arena, clv_weight_layout *ret, clv_placement_notes *notes,
                            clv_error *err)
{
    clv_json_at spec = { 0 };
    clv_weight_layout layout;

    if (clv_json_is_object(root))
        CLV_TRY(clv_json_member(root, "spec", false, &spec, err));
    CLV_TRY(spec.json ? read_spec(root, weights, arena, &layout, notes, err)
                      : clv_weight_layout_of_json(root, weights, arena, &layout, err));
    CLV_TRY(clv_weight_layout_check(&layout, weights, arena, err));
    *ret = layout;
    return CLV_OK;
}

clv_status clv_layout_file_read(const char *text, size_t n, const char *name,
                                const clv_weight_list *weights, clv_arena *arena,
                                clv_weight_layout *ret, clv_placement_notes *notes, clv_error *err)
{
    clv_json *json = NULL;

    CLV_TRY(clv_json_parse(text, n, name, &json, err));
    clv_json_at root = clv_json_root(json, name);
    clv_status status = read_root(&root, weights, arena, ret, notes, err);
    clv_json_free(json);
    return status;
}
