/* mesh.h - devices in a grid of one to three named axes.
 *
 * A device's place in the grid is its position, 0 to n_devices - 1, row-major: the last axis varies
 * fastest. Its number in the cluster is device[position]. Sets of axes are masks, bit a for axis a.
 * The axes of a mesh that is derived from a cluster go from the slowest links to the fastest, so
 * that devices next to each other in the grid are joined best.
 */
#ifndef CLV_SHARDING_MESH_H
#define CLV_SHARDING_MESH_H

#include <stdint.h>

#include "cluster/cluster.h"

#define CLV_MESH_AXES_MAX 3
#define CLV_MESH_MASKS    (1 << CLV_MESH_AXES_MAX)

/* Names of axes stand beside other signs in texts that are read again: "dp=2xtp=8", "dp=b tp=n",
 * "dp,tp", "{dp, -, sp@4.tp*64} sum(ep)". */
#define CLV_MESH_NAME_MAX 40 /* bytes */
#define CLV_MESH_NAME_RULE                                                                         \
    "1 to 40 letters, digits, _ and -, without - at the start and without x behind a digit"

/* Read-only once built. */
typedef struct {
    int32_t n_axes;
    int32_t size[CLV_MESH_AXES_MAX];     /* at least 1; 1 beyond n_axes */
    const char *name[CLV_MESH_AXES_MAX]; /* "dp", "tp"; NULL beyond n_axes */
    int32_t n_devices;                   /* the product */
    const int32_t *device; /* ids in the cluster, row-major: the last axis varies fastest */
    /* Whatever an axis splits has parts of these proportions, positive numbers, one for each
     * coordinate; NULL: equal ones. */
    const int64_t *share[CLV_MESH_AXES_MAX];
} clv_mesh;

/* What a mesh is to be made of. */
typedef struct {
    int32_t n_axes;
    int32_t size[CLV_MESH_AXES_MAX];
    const char *name[CLV_MESH_AXES_MAX]; /* all NULL: clv_mesh_default_name() */
} clv_mesh_form;

/* Is it as CLV_MESH_NAME_RULE says? Whatever is not ASCII is a letter. */
bool clv_mesh_is_name(const char *name);
/* "8", "2x8", "2x2x2", or with names "dp=2xtp=8"; the names are copied to the arena. What else the
 * text has is CLV_EUSAGE. */
clv_status clv_mesh_form_parse(const char *text, clv_arena *arena, clv_mesh_form *ret,
                               clv_error *err);
/* "tp"; "dp", "tp"; "dp", "sp", "tp". */
const char *clv_mesh_default_name(int32_t n_axes, int32_t axis);

/* Ids in the cluster. at NULL: all devices of the cluster, in their order. */
typedef struct {
    const int32_t *at;
    int32_t n;
} clv_mesh_devices;

#define CLV_MESH_ALL_DEVICES ((clv_mesh_devices){ NULL, 0 })

/* A mesh of these devices; the array is copied. CLV_EUSAGE: no axis or more than three, a size
 * below 1, names that are none, equal or missing beside others, sizes that do not multiply to
 * n_devices, a device that the cluster does not have or that is listed twice. O(devices). */
clv_status clv_mesh_make(const clv_mesh_form *form, const clv_cluster *cluster,
                         clv_mesh_devices devices, clv_arena *arena, const clv_mesh **ret,
                         clv_error *err);

/* -- places in a mesh -- */

/* Coordinate of a position along an axis; the position of a device, -1: not in the mesh (O(n)). */
int32_t clv_mesh_coord(const clv_mesh *mesh, int32_t position, int32_t axis);
int32_t clv_mesh_position(const clv_mesh *mesh, int32_t device);
/* The place of a position when all are counted with the axes in this order, the last fastest. */
int32_t clv_mesh_count_of(const clv_mesh *mesh, const int32_t order[static CLV_MESH_AXES_MAX],
                          int32_t position);
/* Product of the sizes of a set of axes. */
int32_t clv_mesh_count(const clv_mesh *mesh, uint32_t axes);
/* Which of a set of axes are longer than 1. */
uint32_t clv_mesh_long_axes(const clv_mesh *mesh);
/* The positions in groups: group g is ret[g * n] to ret[g * n + n - 1] with n =
 * clv_mesh_count(axes), the devices that differ only in these axes, row-major over them; groups in
 * the order of their first position. ret: n_devices entries. O(devices). */
void clv_mesh_groups(const clv_mesh *mesh, uint32_t axes, int32_t *ret);

/* -- how fast they are -- */

/* How fast the devices at each coordinate of an axis are beside each other, in matrix rate for
 * operands of dtype, the slowest device of a coordinate counting: positive whole numbers, equal
 * where the rates are. For clv_mesh.share. ret: the axis's size entries. O(devices). */
void clv_mesh_shares(const clv_mesh *mesh, const clv_cluster *cluster, int32_t axis,
                     clv_dtype dtype, int64_t *ret);

#endif
