/* placement_file.h - a placement spec for the weights of a model, from a file
 * (docs/formats/placement-spec.md).
 *
 * A name in a composite stands for the tensor of that name and for all tensors below it: "net1" for
 * "net1.weight", but not for "net10.weight". '.' and '/' are the same, and one in front of a
 * weight's name is passed over. Of several names that fit, the longest counts.
 */
#ifndef CLV_WEIGHTS_PLACEMENT_FILE_H
#define CLV_WEIGHTS_PLACEMENT_FILE_H

#include "base/json.h"
#include "base/map.h"
#include "notation/placement_parts.h"

/* A name of composites, those around it in front, and '.' between: "net1.weight". */
typedef struct {
    clv_str name;
    const clv_placement_spec *spec; /* no composite */
} clv_placement_rule;

typedef struct {
    clv_str name; /* a weight's, or what it ends in */
    const char *const *dims;
    int32_t n;
} clv_placement_dim_names;

typedef struct {
    const clv_placement_spec *spec;
    clv_placement_devices devices;
    const clv_placement_rule *rules; /* in the order of the spec; no composite: one, "" */
    clv_map rule_of;
    const clv_placement_dim_names *names; /* "names" */
    clv_map names_of;
    int32_t n_rules, n_names;
    bool skip;        /* "cannot_apply": "skip": a note, and whole on each device of the spec */
    bool copy_others; /* "others": "copy": a copy on each device; else they are not sharded */
} clv_placement_file;

/* Of the file's root. CLV_EFORMAT. O(text). */
clv_status clv_placement_file_of_json(const clv_json_at *root, clv_arena *arena,
                                      clv_placement_file *ret, clv_error *err);

#endif
