/* memory_end.h - something is done again and again with too little memory, until there is enough.
 */
#ifndef CLV_TESTS_SUPPORT_MEMORY_END_H
#define CLV_TESTS_SUPPORT_MEMORY_END_H

#include "base/arena.h"

/* Makes the thing "out" in the folder, in an arena of its own. */
typedef clv_status (*memory_act)(void *ctx, clv_arena *arena, clv_error *err);

/* Acts within each limit of the arena, and with each request to its allocator refused. It has to
 * succeed or end with CLV_ENOMEM, and then leaves nothing: in memory or in the folder. Asserts. */
void memory_ends(const char *folder, memory_act act, void *ctx);

#endif
