/* opset.h - which version of the standard operators a lowered model imports.
 *
 * The operators that lowering adds need a version that today's runtimes still have. A model of an
 * older one may import a newer one if no operator of it has changed in between.
 */
#ifndef CLV_LOWER_OPSET_H
#define CLV_LOWER_OPSET_H

#include "graph/graph.h"

/* The version to import: the model's own, or CLV_OPSET_PLAIN where it has an older one of which all
 * operators, those of bodies too, mean the same still. O(operators * log). */
#define CLV_OPSET_PLAIN 9
int32_t clv_opset_for(const clv_model *model);

#endif
