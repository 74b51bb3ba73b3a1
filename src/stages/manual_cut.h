/* manual_cut.h - cuts that a person gives: the manual mode of sharding nodes.
 *
 *   "NODE=DEVICE,NODE=DEVICE,..."            or JSON:
 *   { "sharding_info": { "NODE": DEVICE, ... }, "pipelining_info": { "NODE": STAGE, ... } }
 *
 * Taken device by device, each node brings all before it that no earlier one took; what is left
 * over goes to the device after the highest one named. Stages follow from the devices' order unless
 * pipelining_info gives them, which must then name the same nodes.
 */
#ifndef CLV_STAGES_MANUAL_CUT_H
#define CLV_STAGES_MANUAL_CUT_H

#include "cost/subgraph.h"

typedef struct {
    int32_t n; /* nodes given, by device, then as written */
    clv_op *node;
    int32_t *device;
    int32_t *stage;      /* NULL: as the devices follow each other */
    int32_t rest_device; /* for what is left over */
    int32_t rest_stage;
    clv_status wrong; /* what a fault in it is: the list is a request, JSON an input */
} clv_manual_cut;

/* Refuses text that is neither form, a node that the graph does not have or has twice, a device of
 * n_devices or more, two stages on one device: CLV_EUSAGE in a list, CLV_EFORMAT in JSON. Node
 * names are labels as reports show them. */
clv_status clv_manual_cut_parse(const char *text, const clv_graph *g, int32_t n_devices,
                                clv_arena *arena, clv_manual_cut *ret, clv_error *err);
/* Refuses a node that the units, made by clv_subgraphs_of_nodes, put on another device than its
 * own: one of an earlier device brought it along. */
clv_status clv_manual_cut_check(const clv_manual_cut *cut, const clv_subgraphs *units,
                                const clv_graph *g, clv_error *err);

#endif
