/* shards_source.h - the shards of a folder as something to stream from: each weight put together
 * again, block by block, and its checksums verified on the way. */
#ifndef CLV_WEIGHTS_SHARDS_SOURCE_H
#define CLV_WEIGHTS_SHARDS_SOURCE_H

#include "weights/weights_folder.h"

typedef struct clv_shards_source clv_shards_source;

/* Of copies the first is read. folder and arena must outlive it. disk NULL: the system's calls.
 * Memory: a block, and O(shards of a weight). */
clv_status clv_shards_source_new(const clv_weights_folder *folder, const clv_disk *disk,
                                 clv_arena *arena, clv_shards_source **ret, clv_error *err);
void clv_shards_source_free(clv_shards_source *source); /* NULL is fine */
/* Its read takes blocks of at most CLV_STREAM_BLOCK bytes; its end says CLV_EFORMAT where a shard
 * that was read whole is not what it was when it was written. */
clv_weight_source clv_shards_source_of(clv_shards_source *source);

#endif
