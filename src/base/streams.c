#include "base/streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool clv_is_stream(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

void clv_fill_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY; /* the other direction */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode) < 0)
            return;
    }
}
