/* out_folder.h - a folder that is there as a whole or not at all.
 *
 * It is made beside its place as a temporary (temporary.h), filled, and renamed. On failure it is
 * removed; the end of the program, however sudden, leaves at worst the temporary, which the next
 * that writes beside it removes. A folder that exists is never touched, but for an empty one, whose
 * place is taken: of two that write one folder the second fails.
 */
#ifndef CLV_BASE_OUT_FOLDER_H
#define CLV_BASE_OUT_FOLDER_H

#include "base/arena.h"

typedef struct clv_out_folder clv_out_folder;

/* CLV_EUSAGE: there is something at path already; CLV_EIO: it cannot be made there. */
clv_status clv_out_folder_open(const char *path, const clv_alloc *alloc, clv_out_folder **ret,
                               clv_error *err);
/* Where to write, till it is committed: for messages, and a descriptor of the folder, which is
 * lent. */
const char *clv_out_folder_path(const clv_out_folder *out);
int clv_out_folder_fd(const clv_out_folder *out);
/* The same as it is below the folder that it is in, for a clv_renaming of what is in it, and that
 * folder. */
const char *clv_out_folder_name(const clv_out_folder *out);
int clv_out_folder_parent(const clv_out_folder *out);
/* Both free out in any case. */
clv_status clv_out_folder_commit(clv_out_folder *out, clv_error *err);
void clv_out_folder_abort(clv_out_folder *out); /* NULL is fine */

#endif
