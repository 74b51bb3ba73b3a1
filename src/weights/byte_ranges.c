#include "weights/byte_ranges.h"

/* Elements to bytes; false where that is no whole number. */
static bool to_bytes(int64_t elems, int bits, int64_t *ret)
{
    if (bits >= 8)
        *ret = elems * (bits / 8);
    else
        *ret = elems / (8 / bits);
    return bits >= 8 || elems % (8 / bits) == 0;
}

static clv_status put_runs(const clv_part_files *p, clv_json_out *out, const clv_placed_box *place,
                           const clv_payload *payload, clv_error *err)
{
    const clv_weight *w = &p->weights->at[place->pub.weight];
    int bits = clv_dtype_bits(w->dtype);
    int64_t first = 0, length = 0, stride[CLV_SPLIT_RANK_MAX] = { 0 };
    clv_runs r;
    clv_runs_start(&place->pub.box, &r);
    bool whole = to_bytes(r.n ? r.first : 0, bits, &first) &&
                 (to_bytes(r.n, bits, &length) || r.n == w->elems);
    for (int32_t d = 0; d < r.rank; d++)
        whole = to_bytes(r.stride[d], bits, &stride[d]) && whole;
    if (!whole)
        return clv_fail(err, CLV_EUNSUPP,
                        "weight '%.*s': a part of %d-bit elements does not begin or end on a byte, "
                        "so it cannot be written as ranges of bytes",
                        CLV_STR_ARG(w->name), bits);
    clv_json_put_int(out, "offset", payload->offset + first);
    clv_json_put_int(out, "length", r.n == w->elems ? payload->length : length);
    clv_json_open_array(out, "repeat");
    for (int32_t d = r.rank - 1; d >= 0; d--) {
        clv_json_open_object(out, NULL);
        clv_json_put_int(out, "times", r.size[d]);
        clv_json_put_int(out, "apart", stride[d]);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    return CLV_OK;
}

static clv_status put_box(clv_part_files *p, clv_json_out *out, clv_placed_box *place,
                          clv_error *err)
{
    const clv_weight *w = &p->weights->at[place->pub.weight];
    const clv_payload *payload = &p->options.payloads[place->pub.weight];
    int64_t dims[CLV_SPLIT_RANK_MAX];
    int32_t rank = clv_box_dims(w, &place->pub.box, dims);
    if (!payload->file)
        return clv_fail(err, CLV_EUNSUPP,
                        "weight '%.*s': its elements do not lie in a file as they are, so they "
                        "cannot be written as ranges of bytes",
                        CLV_STR_ARG(w->name));
    clv_json_open_object(out, NULL);
    clv_json_put_str(out, "name", w->name);
    clv_json_put_string(out, "dtype", clv_dtype_name(w->dtype));
    clv_json_open_array(out, "shape");
    for (int32_t d = 0; d < rank; d++)
        clv_json_put_int(out, NULL, dims[d]);
    clv_json_close_array(out);
    clv_json_put_string(out, "file", payload->file);
    CLV_TRY(put_runs(p, out, place, payload, err));
    clv_json_close_object(out);
    return CLV_OK;
}

clv_status clv_ranges_seal(clv_part_files *p, const clv_part_set *set, const int32_t *order,
                           int32_t n, clv_error *err)
{
    clv_json_out out;
    const char *path = clv_arena_printf(p->arena, "%s.ranges.json", set->name);
    if (!path)
        return clv_fail_nomem(err, "the files of shards");
    clv_json_begin(&out, p->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_open_array(&out, "tensors");
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(put_box(p, &out, &p->places[order[i]], err));
        p->places[order[i]].pub.file = p->n_files;
    }
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    return clv_part_file_text(p, path, &out, err);
}
