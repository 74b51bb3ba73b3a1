/* glob.h - names by patterns, as rules and filters have them. */
#ifndef CLV_BASE_GLOB_H
#define CLV_BASE_GLOB_H

#include <stdbool.h>

#include "base/str.h"

/* Whether all of the name is as the pattern says: '*' stands for any characters, '?' for one, all
 * else for itself. O(pattern * name). */
bool clv_glob_match(const char *pattern, clv_str name);

#endif
