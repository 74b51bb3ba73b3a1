/* collect.h - a folder of shards into one model again, byte for byte what was sharded. */
#ifndef CLV_WEIGHTS_COLLECT_H
#define CLV_WEIGHTS_COLLECT_H

#include "weights/weights_folder_make.h"

/* Writes the model to path, and the files that held its weights beside it under their old names.
 * Every checksum is verified on the way. A file at path is replaced, others are not: CLV_EUSAGE
 * where there is one already, or where path is a file of the folder. CLV_EIO, CLV_EFORMAT: as
 * reading the folder, or it is damaged. All files come into being at the end, the model last; where
 * it fails nothing is left. Of options only disk and stop count. */
clv_status clv_weights_collect(const char *dir, const char *path, const clv_shard_options *options,
                               clv_arena *arena, clv_error *err);

#endif
