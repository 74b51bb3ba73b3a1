/* shard_list.h - what the multi-device annotations of a model come to: each tensor's part on each
 * device, or why there is none. src/annotations makes it, report_shards.h and report_shards_json.h
 * show it.
 */
#ifndef CLV_EXPLAIN_SHARD_LIST_H
#define CLV_EXPLAIN_SHARD_LIST_H

#include "graph/infer.h"
#include "notation/spec_shards.h"

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
    bool open;              /* legal, but the tensor's shape is not known */
    const char *wrong;      /* a sentence; NULL */
    clv_tensor id;          /* CLV_NO_TENSOR where type is NULL */
    clv_sharding_spec spec; /* with the bound symbols as numbers */
    /* Where tiles are asked for, of a spec that is not wrong: one of the two. */
    const char *tiles;    /* "{2,1:0,1}" */
    const char *no_tiles; /* why there is no such notation, a sentence */
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
    clv_op op;
    const char *wrong; /* its specs do not make sense together: a sentence; NULL */
} clv_shard_node;

/* Where in the model: a tensor at a node, under a configuration. */
typedef struct {
    int32_t configuration;
    clv_str node;       /* empty: the configuration */
    const char *tensor; /* NULL: the node */
} clv_shard_site;

typedef enum {
    CLV_SHARD_OF_PRODUCER, /* an input: as the node that makes it delivers it */
    CLV_SHARD_OF_INPUT,    /* an input or weight of the model: unsharded */
    CLV_SHARD_BY_INPUTS,   /* an input: as the node's own specs of other inputs ask */
    CLV_SHARD_BY_RULE      /* an output: what follows from the inputs and the operator's rule */
} clv_shard_why;

/* A tensor of an annotated node, or one that is sharded, for which its node has no spec. */
typedef struct {
    clv_shard_site at;
    clv_shard_why why;
    const char *text;              /* "axis 0 in 2 on 0, 1" */
    const clv_sharding_spec *spec; /* NULL: unsharded */
    int64_t n_summands; /* above 1: each device has a summand, and they are reduced to this */
    const char *reduce; /* how, "sum" */
} clv_shard_inferred;

typedef struct {
    const char *name; /* "all-gather"; "point-to-point" where no collective does it */
    int64_t devices;  /* that do it together; 0: too many to look at */
    int64_t bytes;    /* sent by each, at most; for point-to-point received */
} clv_shard_step;

/* A tensor that is delivered otherwise than it was computed, or taken otherwise than delivered. */
typedef struct {
    clv_shard_site at;
    bool is_output;
    bool own_differs; /* an output: its own spec is not what follows; else only a sum is made */
    const char *from, *to;
    const clv_shard_step *steps;
    int32_t n_steps;
} clv_shard_move;

/* A sentence, without the node's name, about a node or something of it. */
typedef struct {
    clv_shard_site at;
    const char *text;
} clv_shard_remark;

typedef struct {
    const char *model_name;
    const clv_model *model;
    clv_uneven_policy policy;
    const clv_shard_configuration *configurations; /* those asked for, in the order of the file */
    int32_t n_configurations;
    clv_shard_node *nodes; /* by configuration (unknown ones last), then in the order of the file */
    int32_t n_nodes;
    int32_t n_in_bodies, n_in_functions; /* entries there: seen by themselves */
    const char *const *faults;           /* sentences: what is malformed in the file */
    int32_t n_faults;
    int32_t n_rows, n_uneven, n_open, n_wrong; /* n_wrong: rows, nodes and faults */
    bool inputs_are_open; /* a symbol of their shapes has no size: --bind gives it one */
    /* What follows, by configuration, then in the order of the graph. */
    clv_shard_inferred *inferred;
    int32_t n_inferred, cap_inferred;
    clv_shard_move *moves;
    int32_t n_moves, cap_moves;
    clv_shard_remark *unchecked; /* specs that no rule judges: taken as the user's own */
    int32_t n_unchecked, cap_unchecked;
    /* Inputs of the model, which are whole where they enter, that a node splits. */
    clv_shard_remark *entries;
    int32_t n_entries, cap_entries;
    bool tiles;                    /* are asked for */
    const char *backend;           /* name of its profile; NULL: none is asked about */
    clv_shard_remark *unsupported; /* valid, but not for this backend */
    int32_t n_unsupported, cap_unsupported;
} clv_shard_list;

#endif
