/* layout_sim.h - small tensors of whole numbers laid out over the devices of a mesh, for real: what
 * each device has, element by element, and what steps make of it.
 */
#ifndef TESTS_SUPPORT_LAYOUT_SIM_H
#define TESTS_SUPPORT_LAYOUT_SIM_H

#include "sharding/steps.h"

#define SIM_DEVICES 16
#define SIM_ELEMS   512

typedef struct {
    const clv_mesh *mesh;
    const clv_tensor_split *tensor;
    clv_layout layout;
    int32_t n_elems;
    bool has[SIM_DEVICES][SIM_ELEMS];
    int64_t value[SIM_DEVICES][SIM_ELEMS];
} sim;

/* A mesh "2x2x2" of a cluster that has just that many devices, joined by one level. */
const clv_mesh *sim_mesh(clv_arena *arena, const char *form);
clv_cluster *sim_cluster(clv_arena *arena, int32_t n_devices);

/* The whole tensor's element e; partial results are random and add up to it. */
int64_t sim_element(int32_t e);
/* As the layout says. */
void sim_lay_out(sim *s, const clv_mesh *mesh, const clv_tensor_split *tensor,
                 const clv_layout *layout);
/* Only what the devices of a group have may be used. NULL, or what went wrong; buf is static. The
 * most that one device sends another is put in *ret_pair (elements). */
const char *sim_step(sim *s, clv_step_kind kind, uint32_t axes, const clv_layout *to,
                     int64_t *ret_pair);
/* NULL when every device has its part of s->layout, with the right elements. */
const char *sim_check(const sim *s);

#endif
