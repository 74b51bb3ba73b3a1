/* plan_mesh.h - plans whose stages are meshes: several devices that run each operator together.
 *
 * All meshes have one form. In device_of_op the first device of a mesh, its lead, stands for all of
 * it; the numbers of a device are its own. A plan without axes has one device a stage, and each
 * device is its own lead.
 */
#ifndef CLV_PLAN_PLAN_MESH_H
#define CLV_PLAN_PLAN_MESH_H

#include "plan/plan.h"

static inline bool clv_plan_has_mesh(const clv_plan *plan) { return plan->n_axes > 0; }

/* The lead of a device's mesh; -1: the plan has meshes, and the device is in none, or it has
 * copies, and the device is of a further one. O(1). */
static inline int32_t clv_plan_lead(const clv_plan *plan, int32_t device)
{
    return plan->lead_of_device ? plan->lead_of_device[device] : device;
}

/* Sets lead_of_device from mesh_device and copy_device, which must be right (clv_plan_check_mesh,
 * clv_plan_check_copies). CLV_ENOMEM. O(devices). */
clv_status clv_plan_set_leads(clv_plan *plan, clv_arena *arena, clv_error *err);

/* "dp=2xtp=4", as --mesh takes it; "" without axes. NULL: no memory. */
const char *clv_plan_mesh_text(const clv_plan *plan, clv_arena *arena);

/* Does each device work on what it has? A step between layouts, but nothing is sent. */
bool clv_plan_collective_is_local(const clv_plan_collective *c);
/* How many of the plan's collectives are not local. O(collectives). */
int32_t clv_plan_count_sending(const clv_plan *plan);

#define CLV_MESH_FAULT 240

/* What is wrong with how an operator is split, "dp=b tp=n": for axes of the mesh, in their order,
 * each at most once, the name of a factor. NULL: nothing; else a sentence without a name, in buf.
 */
const char *clv_plan_split_fault(const clv_plan *plan, const char *split, char buf[CLV_MESH_FAULT]);
/* The same for axes of a collective, "dp,tp": at least one. */
const char *clv_plan_axes_fault(const clv_plan *plan, const char *axes, char buf[CLV_MESH_FAULT]);
/* The same for the axes of the plan, whose product is mesh_devices: up to three, with names of
 * their own and sizes of at least 1. */
const char *clv_plan_form_fault(const clv_plan *plan, char buf[CLV_MESH_FAULT]);

/* Axes and product; meshes disjoint and of devices that exist; leads as the meshes say; operators
 * on leads; all devices of a mesh in one stage; splits and collectives along axes that exist, the
 * latter in stages that exist. CLV_EFORMAT names what is wrong. What a plan without axes says of
 * meshes is wrong too. Scratch is given back. O(devices + operators + collectives). */
clv_status clv_plan_check_mesh(const clv_plan *plan, clv_arena *arena, clv_error *err);

#endif
