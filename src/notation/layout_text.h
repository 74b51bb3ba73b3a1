/* layout_text.h - layouts on a mesh as people read them, and back.
 *
 * "{dp, -, sp.tp} sum(ep)": by dimension the axes that split it, outermost first, or -; tp@4 splits
 * within each of 4 outer parts, tp*64 between runs of 64 elements; behind the braces what is
 * partial, and over which axes. Axes that are not named hold copies.
 */
#ifndef CLV_NOTATION_LAYOUT_TEXT_H
#define CLV_NOTATION_LAYOUT_TEXT_H

#include "sharding/layout.h"

#define CLV_LAYOUT_TEXT 400 /* three names of CLV_MESH_NAME_MAX and CLV_RANK_MAX dimensions */

/* The text of a layout for a tensor of that rank; returns buf. O(rank). */
const char *clv_layout_show(char buf[static CLV_LAYOUT_TEXT], const clv_layout *layout,
                            const clv_mesh *mesh, int32_t rank);
/* The layout that clv_layout_show() wrote as this text for a tensor of that rank. CLV_EFORMAT: it
 * wrote no such text; a sentence that names it. O(length). */
clv_status clv_layout_parse(const char *text, const clv_mesh *mesh, int32_t rank, clv_layout *ret,
                            clv_error *err);

#endif
