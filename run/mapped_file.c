#include "run/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/onnx_image.h"

clv_status clr_mapped_file_open(const char *path, clr_mapped_file *ret, clv_error *err)
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
        *ret = (clr_mapped_file){ path, bytes, (size_t)st.st_size };
    else if (bytes && bytes != nothing)
        munmap((void *)(uintptr_t)bytes, (size_t)st.st_size);
    return status;
}

void clr_mapped_file_close(clr_mapped_file *file)
{
    if (file->n > 0)
        munmap((void *)(uintptr_t)file->bytes, file->n);
    *file = (clr_mapped_file){ 0 };
}
