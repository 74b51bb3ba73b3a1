#include "weights/part_files.h"

#include <assert.h>

clv_status clv_part_files_new(const clv_out_folder *folder, const clv_weight_list *weights,
                              const clv_parts_options *options, clv_arena *arena,
                              clv_part_files **ret, clv_error *err)
{
    clv_part_files *p = CLV_NEW(arena, clv_part_files);
    if (!p)
        return clv_fail_nomem(err, "the files of shards");
    p->arena = arena;
    p->weights = weights;
    p->options = *options;
    p->folder = folder;
    CLV_TRY(clv_map_init(&p->first_of, arena, weights->n, err));
    *ret = p;
    return CLV_OK;
}

clv_status clv_part_file_new(clv_part_files *p, const char *name, int32_t *ret_file, clv_error *err)
{
    const char *copy = clv_arena_printf(p->arena, "%s", name);
    clv_checksum_state *sum = clv_checksum_new(p->arena);
    if (!copy || !sum || !CLV_PUSH_ROOM(p->arena, p->files, p->n_files, p->cap_files))
        return clv_fail_nomem(err, "the files of shards");
    *ret_file = p->n_files;
    p->files[p->n_files++] = (clv_part_output){ .pub.name = copy, .sum = sum, .in_order = true };
    return CLV_OK;
}

clv_status clv_part_file_text(clv_part_files *p, const char *name, const clv_json_out *text,
                              clv_error *err)
{
    int32_t file = -1;
    CLV_TRY(clv_part_file_new(p, name, &file, err));
    p->files[file].head = text->text;
    p->files[file].n_head = text->n;
    p->files[file].pub.bytes = (int64_t)text->n;
    return CLV_OK;
}

clv_status clv_part_files_open(clv_part_files *p, const char *name, int32_t *ret_set,
                               clv_error *err)
{
    clv_part_set set = { .name = clv_arena_printf(p->arena, "%s", name), .file = -1 };
    assert(!p->sealed);
    if (!set.name || !CLV_PUSH_ROOM(p->arena, p->sets, p->n_sets, p->cap_sets))
        return clv_fail_nomem(err, "the files of shards");
    if (p->options.kind == CLV_PARTS_EXTERNAL)
        CLV_TRY(clv_part_file_new(p, name, &set.file, err));
    *ret_set = p->n_sets;
    p->sets[p->n_sets++] = set;
    return CLV_OK;
}

/* Offsets of external files are multiples of CLV_PART_ALIGN; nothing takes no place. */
static clv_status place_behind(clv_part_files *p, clv_placed_box *place, clv_error *err)
{
    clv_part_set *set = &p->sets[place->set];
    int64_t begin = set->end, pad = (CLV_PART_ALIGN - begin % CLV_PART_ALIGN) % CLV_PART_ALIGN;
    place->before = begin;
    if (place->pub.length > 0 && (__builtin_add_overflow(begin, pad, &begin) ||
                                  __builtin_add_overflow(begin, place->pub.length, &set->end)))
        return clv_fail(err, CLV_ELIMIT, "%s would have more bytes than a file can have",
                        set->name);
    place->pub.offset = begin;
    place->pub.file = set->file;
    p->files[set->file].pub.bytes = set->end;
    return CLV_OK;
}

static clv_status add_place(clv_part_files *p, int32_t set, int32_t weight, const clv_box *box,
                            clv_error *err)
{
    clv_placed_box place = { .set = set, .next = -1 };
    place.pub = (clv_part_place){ .file = -1, .weight = weight, .offset = -1 };
    if (!CLV_PUSH_ROOM(p->arena, p->places, p->n_places, p->cap_places))
        return clv_fail_nomem(err, "the places of shards");
    CLV_TRY(clv_box_copy(box, p->arena, &place.pub.box, err));
    /* A part is never larger than the weight, whose bytes are known. */
    (void)clv_dtype_bytes(p->weights->at[weight].dtype, clv_box_elems(box), &place.pub.length);
    if (p->options.kind == CLV_PARTS_EXTERNAL)
        CLV_TRY(place_behind(p, &place, err));
    p->places[p->n_places++] = place;
    return CLV_OK;
}

clv_status clv_part_files_add(clv_part_files *p, int32_t set, int32_t weight, const clv_box *box,
                              int32_t *ret_id, clv_error *err)
{
    int32_t key[2] = { set, weight }, id = p->n_places, last = -1;
    assert(!p->sealed && set < p->n_sets && weight < p->weights->n);
    CLV_TRY(clv_map_put_key(&p->first_of, key, sizeof key, id, &id, err));
    for (; id != p->n_places && id >= 0; last = id, id = p->places[id].next)
        if (clv_box_equal(&p->places[id].pub.box, box)) {
            *ret_id = id;
            return CLV_OK;
        }
    CLV_TRY(add_place(p, set, weight, box, err));
    if (last >= 0)
        p->places[last].next = p->n_places - 1;
    *ret_id = p->n_places - 1;
    return CLV_OK;
}

const clv_part_place *clv_part_files_at(const clv_part_files *p, int32_t id)
{
    return &p->places[id].pub;
}

int32_t clv_part_files_n(const clv_part_files *p) { return p->n_places; }

const clv_part_file *clv_part_files_file(const clv_part_files *p, int32_t file)
{
    return &p->files[file].pub;
}

int32_t clv_part_files_n_files(const clv_part_files *p) { return p->n_files; }

int32_t clv_box_dims(const clv_weight *w, const clv_box *box, int64_t *ret)
{
    int32_t k = 0;
    for (int32_t d = 0; d < w->rank; d++) {
        int64_t whole = 1;
        ret[d] = 1;
        /* The factors of dimension d, and those of 1 that may stand anywhere. */
        while (k < box->rank && (whole < w->dims[d] || box->view[k] == 1)) {
            whole *= box->view[k];
            ret[d] *= box->size[k++];
        }
        if (whole != w->dims[d])
            k = CLV_SPLIT_RANK_MAX + 1;
    }
    if (k == box->rank)
        return w->rank;
    ret[0] = clv_box_elems(box);
    return 1;
}
