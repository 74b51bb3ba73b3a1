/* reshard.h - a folder of shards out of another one, with any other shards. */
#ifndef CLV_WEIGHTS_RESHARD_H
#define CLV_WEIGHTS_RESHARD_H

#include "weights/weights_folder_make.h"

/* Writes the folder dir from the old one's shards alone; as clv_weights_shard() does. */
clv_status clv_weights_reshard(const clv_weights_folder *folder, const clv_weight_layout *layout,
                               const char *dir, const clv_shard_options *options, clv_arena *arena,
                               clv_error *err);

#endif
