/* external_data.h - weights in files beside the model: is each where the model may have it?
 *
 * A location is relative to the model's folder and must stay in it, by its name and also when links
 * are followed: a model from elsewhere must not make us look at other files. Each distinct location
 * is looked up once, however many tensors lie in it. It is opened for that (base/open_inside.h) and
 * closed again, for there may be thousands; who reads it opens it in the same way, and holds it
 * against the identity that was found here.
 */
#ifndef CLV_PROTO_EXTERNAL_DATA_H
#define CLV_PROTO_EXTERNAL_DATA_H

#include "base/map.h"
#include "base/open_inside.h"
#include "graph/graph.h"
#include "proto/onnx_file.h"

typedef struct {
    clv_str location;
    int64_t size;     /* bytes; -1: there is no such file, or nobody looked */
    const char *path; /* in the model's folder, for messages; NULL where size is -1 */
    const char *name; /* the location, with a NUL behind it */
    clv_file_id id;
} clv_external_file;

typedef struct {
    const char *model;  /* the model file's name, for messages */
    const char *folder; /* NULL: files are not looked for */
    int folder_fd;      /* lent; -1: it could not be opened */
    clv_arena *arena;
    clv_map by_location;
    clv_external_file *files; /* in order of first mention */
    int32_t n_files, cap_files;
} clv_external;

/* Nothing is looked at yet. The file must outlive it. */
clv_status clv_external_init(clv_external *ext, const clv_onnx_file *file, clv_arena *arena,
                             clv_error *err);

/* Checks location, offset and length of an external constant whose bytes are known; strings cannot
 * be external. O(1) expected for a location seen before. */
clv_status clv_external_check(clv_external *ext, const clv_const *tensor, clv_error *err);

/* The file that an external constant lies in; it stays true until the next is looked for. The
 * location alone is checked. O(1) expected for a location seen before. */
clv_status clv_external_find(clv_external *ext, const clv_const *tensor,
                             const clv_external_file **ret, clv_error *err);

/* "12" -> 12; digits only. False for anything else, and from 2^63. */
bool clv_external_number(clv_str text, int64_t *ret);

#endif
