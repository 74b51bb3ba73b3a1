/* tiles.h - tensor dictionaries: which instance (device) has which tile of a tensor, in
 * the notation {pattern:assignment} of the slides on multi-device ONNX.
 *
 * {2,1:0,1} is a tensor of two dimensions in 2 x 1 tiles, the first on instance 0, the second on 1.
 * A pattern of volume 1 does not tile: {1:0,1} is a copy on each of 0 and 1, of any rank. A pattern
 * stands for the last dimensions of a tensor, those before them are not split. An assignment -1
 * gives a tile to nobody. docs/formats/tiles.md.
 */
#ifndef CLV_NOTATION_TILES_H
#define CLV_NOTATION_TILES_H

#include "base/arena.h"
#include "graph/graph.h"

/* Which tile is the j-th. The formula that the slides print takes j modulo each entry of the
 * pattern: in {3,2:...} tile j is the one at (j % 3, j % 2). Of {2,2:...} it makes the two tiles on
 * the diagonal, twice each, for it reaches all tiles only if the entries have no common divisor. */
typedef enum {
    CLV_TILES_ROW_MAJOR, /* the last dimension fastest: j as a number with the pattern as digits */
    CLV_TILES_PRINTED    /* as printed; refused where it does not reach all tiles */
} clv_tile_order;

#define CLV_TILE_SUPPRESSED (-1)
#define CLV_TILES_MAX       (1 << 20) /* tiles, or copies, of one tensor */

/* What clv_tiles_check() has passed; the other calls give no other, and take no other. */
typedef struct {
    const int64_t *pattern;  /* each at least 1 */
    int32_t n_pattern;       /* 1 to CLV_RANK_MAX */
    const int64_t *instance; /* by tile; or, where the volume is 1, who has a copy */
    int32_t n_instance;
    bool by_default;      /* none was given: 0, 1, ... */
    clv_tile_order order; /* that tiles are numbered in */
} clv_tiles;

/* All that can be said without a tensor: numbers in range, as many instances as tiles, no instance
 * with two copies. n_instances: how many there are, 0: not known. CLV_EFORMAT; CLV_ELIMIT above
 * CLV_TILES_MAX. Scratch is given back. O(n log n). */
clv_status clv_tiles_check(const clv_tiles *tiles, int64_t n_instances, clv_arena *arena,
                           clv_error *err);

/* "{3,2,1:5,4,3,2,1,0}", or "{3,2,1}" for 0, 1, ...; blanks between the words are passed over.
 * Checked, for any number of instances; in row-major order, which no text says. CLV_EFORMAT names
 * the column. O(n). */
clv_status clv_tiles_parse(const char *text, clv_arena *arena, clv_tiles *ret, clv_error *err);
/* What parses to the same. NULL: no memory. O(n). */
const char *clv_tiles_print(const clv_tiles *tiles, clv_arena *arena);

#endif
