/* device_file.h - devices by name, and the measured times that they name. */
#ifndef CLV_CLUSTER_DEVICE_FILE_H
#define CLV_CLUSTER_DEVICE_FILE_H

#include "cluster/cluster.h"

/* Reads a device file. Measured times are not read. */
clv_status clv_device_read(const char *path, clv_arena *arena, clv_device_kind *ret,
                           clv_error *err);
/* The same of a name, or a path as it is: devices/NAME.json in the folders of configs_path
 * (colon-separated; may be NULL). CLV_EUSAGE: there is none. */
clv_status clv_device_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                           clv_device_kind *ret, clv_error *err);

/* Another file that a device's file names. */
typedef struct {
    const char *key, *what; /* "measured", and what stands there */
    const char *where;      /* folder of configs_path that has those with names */
} clv_device_reference;
/* NAME.json in the folders of configs_path, or a path ('/' in it, or ending in ".json"), which is
 * below kind->folder (NULL: such paths are refused) unless it begins with '/'. CLV_EFORMAT: there
 * is no file of that name. */
clv_status clv_device_locate(const clv_device_kind *kind, const clv_device_reference *to,
                             const char *configs_path, clv_arena *arena, const char **ret,
                             clv_error *err);

/* Reads what kind->measured names into kind->times. Nothing where it names none. CLV_EFORMAT:
 * there is no such file, or it is wrong. */
clv_status clv_device_load_times(clv_device_kind *kind, const char *configs_path, clv_arena *arena,
                                 clv_error *err);

#endif
