#include "run/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

clv_status clr_mapped_file_open(const char *path, clr_mapped_file *ret, clv_error *err)
{
    static const uint8_t nothing[1];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;

    if (fd < 0)
        return clv_fail(err, CLV_EIO, "cannot read %s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return clv_fail(err, CLV_EIO, "cannot read %s: it is not a regular file", path);
    }
    if (st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int why = errno;
    close(fd);
    if (st.st_size > 0 && bytes == MAP_FAILED)
        return clv_fail(err, CLV_EIO, "cannot read %s: %s", path, strerror(why));
    *ret = (clr_mapped_file){ path, st.st_size > 0 ? bytes : nothing, (size_t)st.st_size };
    return CLV_OK;
}

void clr_mapped_file_close(clr_mapped_file *file)
{
    if (file->n > 0)
        munmap((void *)(uintptr_t)file->bytes, file->n);
    *file = (clr_mapped_file){ 0 };
}
