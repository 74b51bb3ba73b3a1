/* tile_notation.h - tensor dictionaries: which instance (device) has which tile of a tensor, in the
 * notation {pattern:assignment} of the slides on multi-device ONNX.
 *
 * {2,1:0,1} is a tensor of two dimensions in 2 x 1 tiles, the first on instance 0, the second on 1.
 * A pattern of volume 1 does not tile: {1:0,1} is a copy on each of 0 and 1, of any rank. A pattern
 * stands for the last dimensions of a tensor, those before them are not split. An assignment -1
 * gives a tile to nobody. docs/formats/tiles.md.
 */
#ifndef CLV_NOTATION_TILE_NOTATION_H
#define CLV_NOTATION_TILE_NOTATION_H

#include "notation/sharding.h"

/* Which tile is the j-th. The formula that the slides print takes j modulo each entry of the
 * pattern: in {3,2:...} tile j is the one at (j % 3, j % 2). Of {2,2:...} it makes the two tiles on
 * the diagonal, twice each, for it reaches all tiles only if the entries have no common divisor. */
typedef enum {
    CLV_TILES_ROW_MAJOR, /* the last dimension fastest: j as a number with the pattern as digits */
    CLV_TILES_PRINTED    /* as printed; refused where it does not reach all tiles */
} clv_tile_order;

const char *clv_tile_order_name(clv_tile_order order); /* "row-major", "printed" */

#define CLV_TILE_SUPPRESSED (-1)
#define CLV_TILES_MAX       (1 << 20) /* tiles, or copies, of one tensor */

/* What clv_tiles_check() has passed; the calls below it give no other, and take no other. */
typedef struct {
    const int64_t *pattern;  /* each at least 1 */
    int32_t n_pattern;       /* 1 to CLV_RANK_MAX */
    const int64_t *instance; /* by tile; or, where the volume is 1, who has a copy */
    int32_t n_instance;
    bool by_default; /* none was given: 0, 1, ... */
} clv_tiles;

/* All that can be said without a tensor: numbers in range, as many instances as tiles, no instance
 * with two copies. n_instances: how many there are, 0: not known. CLV_EFORMAT; CLV_ELIMIT above
 * CLV_TILES_MAX. Scratch is given back. O(n log n). */
clv_status clv_tiles_check(const clv_tiles *tiles, int64_t n_instances, clv_arena *arena,
                           clv_error *err);

/* "{3,2,1:5,4,3,2,1,0}", or "{3,2,1}" for 0, 1, ...; blanks between the words are passed over.
 * Checked, for any number of instances. CLV_EFORMAT names the column. O(n). */
clv_status clv_tiles_parse(const char *text, clv_arena *arena, clv_tiles *ret, clv_error *err);
/* What parses to the same. NULL: no memory. O(n). */
const char *clv_tiles_print(const clv_tiles *tiles, clv_arena *arena);

/* -- dictionaries: make, combine, extract, index -- */

/* A dictionary without tiles: {1:...}, a copy on each of n instances. CLV_EFORMAT as in the check.
 */
clv_status clv_tiles_whole(const int64_t *instance, int32_t n, clv_arena *arena, clv_tiles *ret,
                           clv_error *err);

/* The dictionary of the tensor that n tensors of equal dims become when they are put one behind the
 * other along an axis (from 0) of rank: {1:0} and {1:1} along axis 0 of 2 are {2,1:0,1}. All have
 * equal patterns, and not more than one copy: CLV_EUNSUPP, for no notation says which tiles are
 * copied. O(tiles). */
clv_status clv_tiles_join(const clv_tiles *const *tiles, int32_t n, int32_t axis, int32_t rank,
                          clv_tile_order order, clv_arena *arena, clv_tiles *ret, clv_error *err);
/* One tensor, whole in each of n dictionaries: {1:0} and {1:2,3} are {1:0,2,3}. CLV_EUNSUPP for
 * dictionaries with tiles. */
clv_status clv_tiles_copies(const clv_tiles *const *tiles, int32_t n, clv_arena *arena,
                            clv_tiles *ret, clv_error *err);

/* What one instance has: a tensor of its own. Several tiles are several tensors. */
typedef struct {
    int64_t instance;
    int32_t tile; /* 0: a copy */
    const int64_t
        *start;          /* rank entries; floor(k * dim / entry) for the k-th tile of a dimension */
    const int64_t *size; /* 0 along a dimension with more tiles than elements */
} clv_tile_part;

typedef struct {
    clv_tile_part *at; /* by tile, those of nobody left out */
    int32_t n, rank;
    int32_t n_suppressed;
    bool uneven; /* tiles of a dimension differ in size */
} clv_tile_parts;

/* The tensors that a tensor of these dims becomes. CLV_EFORMAT: the pattern has more entries than
 * the tensor dimensions (one of volume 1 goes with any), or tiles cannot be reached in that order.
 * O(tiles * rank). */
clv_status clv_tiles_extract(const clv_tiles *tiles, clv_tile_order order, int32_t rank,
                             const int64_t *dims, clv_arena *arena, clv_tile_parts *ret,
                             clv_error *err);
/* By instance: its next part at or after from; -1: no more. O(parts). */
int32_t clv_tile_parts_of(const clv_tile_parts *parts, int64_t instance, int32_t from);
/* By element, rank coordinates: the next part at or after from that has it; -1: no more. */
int32_t clv_tile_parts_with(const clv_tile_parts *parts, const int64_t *element, int32_t from);

/* -- IR 11 -- */

/* The sharding spec of ONNX that puts the same tiles on the same devices of a tensor of that rank;
 * name is not copied. Sizes are not said in a spec: where tiles are uneven, who reads it cuts after
 * a policy of his own. CLV_EUNSUPP: a suppressed tile; else as in clv_tiles_extract(). */
clv_status clv_tiles_to_spec(const clv_tiles *tiles, clv_tile_order order, int32_t rank,
                             const char *name, clv_arena *arena, clv_sharding_spec *ret,
                             clv_error *err);
/* Back. The spec is checked first. CLV_EUNSUPP says what the notation has no word for: tiles with
 * copies, inner factors of a fused axis, and in the printed order patterns that it does not reach
 * all tiles of. */
clv_status clv_tiles_from_spec(const clv_sharding_spec *spec, clv_tile_order order, int32_t rank,
                               clv_arena *arena, clv_tiles *ret, clv_error *err);

#endif
