/* sharding_spec.h - which part of a tensor is on which device: the sharding specs of ONNX IR 11 as
 * data.
 *
 * A spec lists devices and sharded axes. The listed axes nest: the first is the outer loop, the
 * last the inner one, and the k-th part goes to device[k]. Several shardings on one axis come from
 * axes that a reshape fused: their shard counts multiply, in order. A device entry that is a key of
 * the map, or negative, stands for a group: each member gets a copy. No sharded axis and several
 * devices: replicated on each. Source: the ONNX multi-device proposal and the comments of
 * onnx.proto.
 *
 * Erratum: the proposal prints [[2,3]] for the second shard of its mixed example ([[1,2],[3,4]],
 * axis 0 over the groups {0,1} and {2,3}); the rule gives [[3,4]], and so do we.
 */
#ifndef CLV_NOTATION_SHARDING_SPEC_H
#define CLV_NOTATION_SHARDING_SPEC_H

#include "base/arena.h"
#include "graph/graph.h"

typedef struct {
    clv_dim dim;           /* size of this factor: a number, CLV_DIM_UNKNOWN: the tensor's own */
    const char *dim_param; /* symbolic size instead; NULL */
    int64_t num_shards;    /* at least 1 */
} clv_simple_sharding;

typedef struct {
    int64_t axis; /* [-rank, rank - 1] */
    const clv_simple_sharding *simple;
    int32_t n_simple;
} clv_sharded_dim;

typedef struct {
    int64_t key;
    const int64_t *devices;
    int32_t n_devices;
} clv_device_group;

typedef struct {
    const char *tensor;    /* an input or output of its node */
    const int64_t *device; /* plain ids and group keys, mixed */
    int32_t n_device;
    const clv_device_group *groups; /* index_to_device_group_map */
    int32_t n_groups;
    const clv_sharded_dim *dims;
    int32_t n_dims;
} clv_sharding_spec;

#define CLV_SPEC_NAME(spec) ((spec)->tensor ? (spec)->tensor : "") /* for messages */

/* A node's annotation under one configuration. */
typedef struct {
    const char *configuration;
    const clv_sharding_spec *specs;
    int32_t n_specs;
    bool has_stage; /* absent differs from 0 */
    int64_t stage;
} clv_node_annotation;

/* Legal by itself and for a tensor of that rank (CLV_RANK_UNKNOWN: not known) in a configuration of
 * n_devices (0: not known): axes in range and listed once, shard counts at least 1, negative
 * entries and keys mapped, groups not empty, ids below n_devices, device list as long as there are
 * parts (or any length but 0 when nothing is split). CLV_EFORMAT names tensor, field, value and
 * expectation; CLV_ELIMIT: more than CLV_RANK_MAX factors. Scratch is given back. O(n log n). */
clv_status clv_spec_check(const clv_sharding_spec *spec, int32_t rank, int64_t n_devices,
                          clv_arena *arena, clv_error *err);

/* "axis 0 in 2 on 0, 1"; "axis 1 in 4*1 of 8*3 on {0-3}, {4-7}, ..."; "whole on 0-7": for
 * people. Long lists of devices end in "...". NULL: no memory. O(spec). */
const char *clv_spec_show(const clv_sharding_spec *spec, clv_arena *arena);
/* Product of all shard counts; INT64_MAX when 64 bits cannot hold it. */
int64_t clv_spec_parts(const clv_sharding_spec *spec);

/* -- device groups -- */

/* The groups by key, ascending, so that a long device list is looked up quickly. */
typedef struct {
    const clv_device_group **at;
    int32_t n;
} clv_group_index;

/* CLV_EFORMAT when a key is there twice. O(n log n). */
clv_status clv_group_index_make(const clv_sharding_spec *spec, clv_arena *arena,
                                clv_group_index *ret, clv_error *err);
/* NULL: a plain id. O(log n). */
const clv_device_group *clv_group_find(const clv_group_index *index, int64_t key);

#endif
