/* file_name.h - the last part of a path: how reports name a file. */
#ifndef CLV_API_FILE_NAME_H
#define CLV_API_FILE_NAME_H

#include <string.h>

static inline const char *clv_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
