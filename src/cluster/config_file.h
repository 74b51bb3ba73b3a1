/* config_file.h - finding the files of configs/. */
#ifndef CLV_CLUSTER_CONFIG_FILE_H
#define CLV_CLUSTER_CONFIG_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/* Where NAME.json may be: beside (a folder, may be NULL), then FOLDER/kind for every folder of path
 * (colon-separated, may be NULL). kind is "clusters", "devices", "measured",
 * "runtimes" or "backends". */
typedef struct {
    const char *beside, *path, *kind;
} clv_config_search;

/* Letters, digits, '.', '_' and '-', not beginning with '.', up to 100: a name cannot leave its
 * folder. */
bool clv_config_is_name(const char *name);
/* With '/', or ending in ".json". */
bool clv_config_is_path(const char *name_or_path);

/* The folder of a file, as a path; NULL: no memory. */
const char *clv_config_folder(const char *path, clv_arena *arena);

/* The first NAME.json there is; *ret NULL when there is none. */
clv_status clv_config_find(const clv_config_search *search, const char *name, clv_arena *arena,
                           const char **ret, clv_error *err);
/* Of a name, or a path as it is. what: "cluster", for the message
 * that there is none. */
clv_status clv_config_locate(const clv_config_search *search, const char *what,
                             const char *name_or_path, clv_arena *arena, const char **ret,
                             clv_error *err);
/* All names that clv_config_find() finds in the folders of path (beside is not looked at), each
 * once, in byte order; in the arena. A folder that is not there has none. O(files log files). */
clv_status clv_config_names(const clv_config_search *search, clv_arena *arena,
                            const char *const **ret, int32_t *ret_n, clv_error *err);
/* Where they are looked for: "a/clusters and b/clusters", cut where buf is too small. Returns buf.
 */
const char *clv_config_places(const clv_config_search *search, char *buf, size_t size);
/* "did you mean 'h100-sxm'? known are a100-40gb, h100-sxm (looked in configs/devices)", in byte
 * order, for a message about the name that is wanted. Names come from the folders of path only, 64
 * at most; a list that is too long ends in "...". Returns buf. O(files). */
#define CLV_KNOWN_SIZE 400
const char *clv_config_known(const clv_config_search *search, const char *wanted,
                             char buf[static CLV_KNOWN_SIZE]);

#endif
