#include "weights/layout_file.h"

#include "weights/weight_layout_json.h"

static clv_status read_root(const clv_json_at *root, const clv_weight_list *weights,
                            clv_arena *arena, clv_weight_layout *ret, clv_placement_notes *notes,
                            clv_error *err)
{
    clv_json_at spec = { 0 };
    clv_weight_layout layout;
    clv_placement_file file;

    if (clv_json_is_object(root))
        CLV_TRY(clv_json_member(root, "spec", false, &spec, err));
    if (spec.json) {
        CLV_TRY(clv_placement_file_of_json(root, arena, &file, err));
        CLV_TRY(clv_placement_file_apply(&file, weights, arena, &layout, notes, err));
    } else {
        CLV_TRY(clv_weight_layout_of_json(root, weights, arena, &layout, err));
    }
    CLV_TRY(clv_weight_layout_check(&layout, weights, arena, err));
    *ret = layout;
    return CLV_OK;
}

clv_status clv_layout_file_read(const clv_layout_file *file, const clv_weight_list *weights,
                                clv_arena *arena, clv_weight_layout *ret,
                                clv_placement_notes *notes, clv_error *err)
{
    clv_json *json = NULL;

    CLV_TRY(clv_json_parse(file->text, file->n, file->name, &json, err));
    clv_json_at root = clv_json_root(json, file->name);
    clv_status status = read_root(&root, weights, arena, ret, notes, err);
    clv_json_free(json);
    return status;
}
