/* spec_factors.h - the rule of a node, its factors taken apart where its specs cut within them.
 *
 * A plan for a mesh that does not divide everything splits an inner part of a dimension, 64 of
 * 25 * 64, and takes the factors of all operators apart that lead there (sharding/refine_uneven.h).
 * What it did is in the specs: they list the pieces of such a dimension. So the same rules follow
 * from them, by the same clv_factors_refine(), without knowing the mesh.
 */
#ifndef CLV_ANNOTATIONS_SPEC_FACTORS_H
#define CLV_ANNOTATIONS_SPEC_FACTORS_H

#include "annotations/output_spec.h"

/* *ret is node->factors itself where no spec cuts within a factor. A factor that may not be taken
 * apart stays: then the cut is wrong. In the arena. O(pieces of specs * the rule's dimensions). */
clv_status clv_factors_for_specs(const clv_spec_node *node, clv_arena *arena,
                                 const clv_factors **ret, clv_error *err);

#endif
