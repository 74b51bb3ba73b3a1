/* temporary.h - files and folders under a name of their own, till they are whole.
 *
 * They stand in the folder of their place, ".NAME.PID.K.cleave.tmp" or "NAME.tmp-cleave-PID-K", and
 * whoever writes one holds a lock on it (flock). The kernel lets go of a lock when its holder ends,
 * however it ends; so one that can be locked by somebody else is a leftover, and is removed by the
 * next who writes to that folder. Nothing else is: not what has another name, another owner, or a
 * holder, and nothing where the file system has no locks.
 */
#ifndef CLV_BASE_TEMPORARY_H
#define CLV_BASE_TEMPORARY_H

#include <limits.h>
#include <stdbool.h>

/* The name below the folder, and the descriptor that holds the lock; name "": there is none. */
typedef struct {
    char name[NAME_MAX + 1];
    int fd;
} clv_temporary;

/* New ones, for something that will be called `base`, of which long names keep the first bytes. The
 * file is open to be written. False: errno. */
bool clv_temporary_file(int folder, const char *base, clv_temporary *ret);
bool clv_temporary_folder(int folder, const char *base, clv_temporary *ret);
/* A folder that only this user may enter, and that is never renamed: for a place that others write
 * to as well, as /tmp. */
bool clv_temporary_private(int folder, const char *base, clv_temporary *ret);

/* Removes it, a folder with all that is in it; no link is followed. Closes fd where it is open.
 * Nothing happens where there is none. errno stays. */
void clv_temporary_remove(int folder, clv_temporary *t);

/* Is this the name of one? */
bool clv_is_temporary_name(const char *name);

/* Removes what nobody holds. keep: asked, with the leftover locked, whether it is still wanted. */
void clv_temporaries_sweep(int folder, bool (*keep)(int folder));

#endif
