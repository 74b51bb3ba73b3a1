/* part_set.h - what the files of part_files.h share: sets of boxes before and after they are laid
 * out in files. */
#ifndef CLV_WEIGHTS_PART_SET_H
#define CLV_WEIGHTS_PART_SET_H

#include "base/json.h"
#include "base/map.h"
#include "weights/part_files.h"

typedef struct {
    clv_part_place pub;
    int32_t set;
    int32_t next;   /* of the same set and weight; -1: the last */
    int64_t before; /* where the bytes before it in its file end, padding left out */
} clv_placed_box;

typedef struct {
    clv_part_file pub;
    const char *head; /* what it begins with; NULL: nothing */
    size_t n_head;
    clv_summer *summer;
    int64_t summed; /* bytes that went into it */
    bool in_order;  /* so far all came in the order of the file */
} clv_part_output;

typedef struct {
    const char *name;
    int64_t end;  /* external: of the bytes so far */
    int32_t file; /* external: the one it has */
} clv_part_set;

struct clv_part_files {
    clv_arena *arena;
    const char *folder;
    const clv_weight_list *weights;
    clv_parts_options options;
    clv_map first_of; /* (set, weight) -> place */
    clv_placed_box *places;
    clv_part_set *sets;
    clv_part_output *files;
    int32_t n_places, cap_places, n_sets, cap_sets, n_files, cap_files;
    bool sealed;
};

clv_status clv_part_file_new(clv_part_files *p, const char *name, int32_t *ret_file,
                             clv_error *err);
/* The text becomes the whole of a new file. */
clv_status clv_part_file_text(clv_part_files *p, const char *name, const clv_json_out *text,
                              clv_error *err);
/* A box's own dims: those of the view, put together again as the tensor's dimensions where that can
 * be done, else one dimension of all its elements. ret: the weight's rank, or 1. */
int32_t clv_box_dims(const clv_weight *w, const clv_box *box, int64_t *ret);

/* Lay out the places of a set, order[0 .. n), which may be sorted. */
clv_status clv_safetensors_seal(clv_part_files *p, const clv_part_set *set, int32_t *order,
                                int32_t n, clv_error *err);
clv_status clv_ranges_seal(clv_part_files *p, const clv_part_set *set, const int32_t *order,
                           int32_t n, clv_error *err);
/* Elements of a type that come first in safetensors are wide ones, so that none lies askew. */
int clv_safetensors_rank(clv_dtype dtype);

#endif
