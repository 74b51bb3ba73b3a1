/* lowered_folder.h - a folder on disk beside the one that `cleave lower` makes of the same model
 * and plan. What the folder says of itself, its checksums too, is believed nowhere.
 */
#ifndef CLV_VERIFY_LOWERED_FOLDER_H
#define CLV_VERIFY_LOWERED_FOLDER_H

#include "base/map.h"
#include "lower/lowering.h"

/* Form, dialect and kind of weights that the folder was written in, by its manifest; into *ret.
 * CLV_EIO, CLV_EFORMAT. */
clv_status clv_lowered_folder_form(const char *folder, clv_arena *arena, clv_lowering *ret,
                                   clv_error *err);
/* *ret_fault: the first thing in which got is not as want, in a sentence; NULL: they are alike.
 * Files are compared by bytes and checksum, manifests by what they say, but for their digests,
 * plans and the name that the model's file had. beside: names of files that may lie there too,
 * linked. O(bytes). */
clv_status clv_lowered_folder_compare(const char *got, const char *want, const clv_map *beside,
                                      clv_arena *arena, const char **ret_fault, clv_error *err);

#endif
