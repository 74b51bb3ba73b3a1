#include "proto/append_metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proto/onnx.pb-c.h"

/* protobuf-c takes strings that it could write to; packing only reads them. */
static char *as_mutable(const char *text) { return (char *)(uintptr_t)text; }

static clv_status append(int fd, const uint8_t *bytes, size_t n, const char *path, clv_error *err)
{
    off_t end = lseek(fd, 0, SEEK_END);
    for (size_t done = 0; end >= 0 && done < n;) {
        ssize_t k = pwrite(fd, bytes + done, n - done, end + (off_t)done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return clv_fail(err, CLV_EIO, "cannot write %s: %s", path, strerror(errno));
        done += (size_t)k;
    }
    return end >= 0 ? CLV_OK : clv_fail(err, CLV_EIO, "cannot write %s: %s", path, strerror(errno));
}

clv_status clv_onnx_append_metadata(const clv_file_inside *file, const char *key, const char *value,
                                    clv_arena *arena, clv_error *err)
{
    Onnx__StringStringEntryProto entry = ONNX__STRING_STRING_ENTRY_PROTO__INIT, *entries = &entry;
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT; /* of these fields alone */
    clv_file_id id;
    int fd = -1;
    entry.key = as_mutable(key);
    entry.value = as_mutable(value);
    model.n_metadata_props = 1;
    model.metadata_props = &entries;
    size_t n = onnx__model_proto__get_packed_size(&model);
    uint8_t *bytes = clv_arena_take(arena, n);
    if (!bytes)
        return clv_fail_nomem(err, "metadata of a model");
    onnx__model_proto__pack(&model, bytes);
    if (clv_open_inside(file->folder, file->name, O_RDWR, &fd, &id) != CLV_INSIDE_OPENED)
        return clv_fail(err, CLV_EIO, "cannot write %s: %s", file->path, strerror(errno));
    clv_status status = append(fd, bytes, n, file->path, err);
    if (close(fd) != 0 && status == CLV_OK)
        status = clv_fail(err, CLV_EIO, "cannot write %s: %s", file->path, strerror(errno));
    return status;
}
