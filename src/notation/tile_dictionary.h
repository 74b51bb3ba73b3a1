/* tile_dictionary.h - tensor dictionaries made, combined, taken apart and looked up, and as
 * sharding specs (tiles.h has the notation).
 */
#ifndef CLV_NOTATION_TILE_DICTIONARY_H
#define CLV_NOTATION_TILE_DICTIONARY_H

#include "notation/sharding_spec.h"
#include "notation/tiles.h"

/* -- make and combine -- */

/* A dictionary without tiles: {1:...}, a copy on each of n instances. CLV_EFORMAT as in the check.
 */
clv_status clv_tiles_whole(const int64_t *instance, int32_t n, clv_arena *arena, clv_tiles *ret,
                           clv_error *err);

typedef struct {
    int32_t axis, rank; /* from 0, of a tensor of so many dimensions */
} clv_tile_axis;

/* The dictionary, in the order of the first, of the tensor that n tensors of equal dims become when
 * they are put one behind the other along an axis: {1:0} and {1:1} along axis 0 of 2 are {2,1:0,1}.
 * All have equal patterns, and not more than one copy: CLV_EUNSUPP, for no notation says which
 * tiles are copied. O(tiles). */
clv_status clv_tiles_join(const clv_tiles *const *tiles, int32_t n, clv_tile_axis along,
                          clv_arena *arena, clv_tiles *ret, clv_error *err);
/* One tensor, whole in each of n dictionaries: {1:0} and {1:2,3} are {1:0,2,3}. CLV_EUNSUPP for
 * dictionaries with tiles. */
clv_status clv_tiles_copies(const clv_tiles *const *tiles, int32_t n, clv_arena *arena,
                            clv_tiles *ret, clv_error *err);

/* -- extract and index -- */

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
 * the tensor dimensions (one of volume 1 goes with any), or tiles cannot be reached in its order.
 * O(tiles * rank). */
clv_status clv_tiles_extract(const clv_tiles *tiles, int32_t rank, const int64_t *dims,
                             clv_arena *arena, clv_tile_parts *ret, clv_error *err);
/* By instance: its next part at or after from; -1: no more. O(parts). */
int32_t clv_tile_parts_of(const clv_tile_parts *parts, int64_t instance, int32_t from);
/* By element, rank coordinates: the next part at or after from that has it; -1: no more. */
int32_t clv_tile_parts_with(const clv_tile_parts *parts, const int64_t *element, int32_t from);

/* -- IR 11 -- */

/* The sharding spec of ONNX that puts the same tiles on the same devices of a tensor of that rank;
 * name is not copied. Sizes are not said in a spec: where tiles are uneven, who reads it cuts after
 * a policy of his own. CLV_EUNSUPP: a suppressed tile; else as in clv_tiles_extract(). */
clv_status clv_tiles_to_spec(const clv_tiles *tiles, int32_t rank, const char *name,
                             clv_arena *arena, clv_sharding_spec *ret, clv_error *err);
/* Back. The spec is checked first. CLV_EUNSUPP says what the notation has no word for: tiles with
 * copies, inner factors of a fused axis, and in the printed order patterns that it does not reach
 * all tiles of. */
clv_status clv_tiles_from_spec(const clv_sharding_spec *spec, clv_tile_order order, int32_t rank,
                               clv_arena *arena, clv_tiles *ret, clv_error *err);

#endif
