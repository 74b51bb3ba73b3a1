#include "run/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/onnx_image.h"

clv_status clr_file_bytes_open(const char *path, clr_file_bytes *ret, clv_error *err)
{
    static const uint8_t nothing[1];
    struct stat st;
    const uint8_t *bytes = nothing;
    clv_status status = CLV_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */

    if (fd < 0)
        return clv_fail(err, CLV_EIO, "cannot read %s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        status = clv_fail(err, CLV_EIO, "cannot read %s: it is not a regular file", path);
    else if (st.st_size > 0)
        status =
            clv_image_read(&(clv_image_file){ fd, path, (size_t)st.st_size }, false, &bytes, err);
    close(fd);
    if (status == CLV_OK)
        *ret = (clr_file_bytes){ path, bytes, (size_t)st.st_size };
    else if (bytes && bytes != nothing)
        munmap((void *)(uintptr_t)bytes, (size_t)st.st_size);
    return status;
}

void clr_file_bytes_close(clr_file_bytes *file)
{
    if (file->n > 0)
        munmap((void *)(uintptr_t)file->bytes, file->n);
    *file = (clr_file_bytes){ 0 };
}
