/* shards.h - what the multi-device annotations of a model come to: each tensor's part on each
 * device, or why there is none. src/shards.c makes it, two reports show it.
 */
#ifndef CLV_REPORT_SHARDS_H
#define CLV_REPORT_SHARDS_H

#include "graph/infer.h"
#include "plan/sharding.h"

typedef struct {
    const char *name;
    int64_t num_devices;
    const char *const *device; /* names, or none */
    int32_t n_device;
} clv_shard_configuration;

/* One spec: it has shards, or is open, or is wrong. */
typedef struct {
    const char *tensor;
    const clv_type *type; /* NULL: not a tensor of the model */
    clv_shards shards;
    bool open;         /* legal, but the tensor's shape is not known */
    const char *wrong; /* a sentence; NULL */
} clv_shard_row;

/* One node under one configuration. */
typedef struct {
    int32_t configuration; /* -1: the file has none of that name */
    const char *name;      /* of the configuration, as written */
    clv_str node;
    bool has_stage;
    int64_t stage;
    clv_shard_row *rows; /* in the order of its specs */
    int32_t n_rows;
} clv_shard_node;

typedef struct {
    const char *model_name;
    const clv_model *model;
    clv_uneven_policy policy;
    const clv_shard_configuration *configurations; /* those asked for, in the order of the file */
    int32_t n_configurations;
    clv_shard_node *nodes; /* by configuration (unknown ones last), then in the order of the file */
    int32_t n_nodes;
    int32_t n_in_bodies, n_in_functions; /* entries there: not looked at */
    const char *const *faults;           /* sentences: what is malformed in the file */
    int32_t n_faults;
    int32_t n_rows, n_uneven, n_open, n_wrong; /* n_wrong: rows and faults */
} clv_shard_list;

/* "refuse", "ceil", "balanced" */
const char *clv_uneven_word(clv_uneven_policy policy);

/* Tables, one for each configuration, then what is wrong. The text lives in the arena. CLV_ENOMEM
 * only. O(shards). */
clv_status clv_report_shards(const clv_shard_list *list, clv_arena *arena, const char **ret_text,
                             clv_error *err);
/* docs/formats/shards.schema.json */
clv_status clv_report_shards_json(const clv_shard_list *list, clv_arena *arena,
                                  const char **ret_text, clv_error *err);

#endif
