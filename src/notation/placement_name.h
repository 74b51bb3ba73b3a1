/* placement_name.h - names of tensors and modules as placement specs compare them: with '.' between
 * words, whatever stood there, and none in front. */
#ifndef CLV_NOTATION_PLACEMENT_NAME_H
#define CLV_NOTATION_PLACEMENT_NAME_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/map.h"

/* The name in that form, in the arena; O(name). */
clv_status clv_placement_name_of(clv_str name, clv_arena *arena, clv_str *ret, clv_error *err);
/* name below prefix, which is in that form and may be empty. */
clv_status clv_placement_name_join(clv_str prefix, const char *name, clv_arena *arena, clv_str *ret,
                                   clv_error *err);

/* What the map has for the longest run of whole words that the name ends in: of "a.b.c", for that,
 * "b.c" or "c"; -1: nothing. O(name * words). */
int32_t clv_placement_name_longest_suffix(const clv_map *map, clv_str name);
/* The next shorter name around this one: "a.b" of "a.b.c", then "a", then "". false: it was "". */
bool clv_placement_name_up(clv_str *name);

#endif
