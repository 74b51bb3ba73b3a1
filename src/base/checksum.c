#include "base/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL  /* its state then has a size that is ours to know, and an arena can hold it \
                         */
#include <xxhash.h>

#define STATE_ALIGN 64 /* what XXH3_state_t asks for; arenas give less */
#define BUFFER      ((size_t)256 << 10)
#define N_ZEROS     4096

const char *clv_checksum_text(char buf[static CLV_CHECKSUM_TEXT], clv_checksum sum)
{
    snprintf(buf, CLV_CHECKSUM_TEXT, "%016llx%016llx", (unsigned long long)sum.high,
             (unsigned long long)sum.low);
    return buf;
}

static bool parse_half(const char *text, uint64_t *ret)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;

    for (int i = 0; i < 16; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return false;
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *ret = value;
    return true;
}

bool clv_checksum_parse(const char *text, clv_checksum *ret)
{
    clv_checksum sum;
    if (strlen(text) != CLV_CHECKSUM_TEXT - 1 || !parse_half(text, &sum.high) ||
        !parse_half(text + 16, &sum.low))
        return false;
    *ret = sum;
    return true;
}

struct clv_checksum_state {
    XXH3_state_t state;
};

clv_checksum_state *clv_checksum_new(clv_arena *arena)
{
    uint8_t *raw = clv_arena_take(arena, sizeof(clv_checksum_state) + STATE_ALIGN);
    if (!raw)
        return NULL;
    clv_checksum_state *s = (void *)(raw + (STATE_ALIGN - (uintptr_t)raw % STATE_ALIGN));
    clv_checksum_restart(s);
    return s;
}

/* xxHash fails only where it is given no state. */
void clv_checksum_restart(clv_checksum_state *s) { (void)XXH3_128bits_reset(&s->state); }

void clv_checksum_add(clv_checksum_state *s, const void *bytes, size_t n)
{
    if (n > 0)
        (void)XXH3_128bits_update(&s->state, bytes, n);
}

void clv_checksum_add_json(clv_checksum_state *state, const char *text, size_t n)
{
    bool in_string = false;
    size_t start = 0; /* of what is not added yet */
    for (size_t i = 0; i < n; i++) {
        if (in_string && text[i] == '\\')
            i++; /* what is escaped ends no string */
        else if (text[i] == '"')
            in_string = !in_string;
        else if (!in_string && strchr(" \t\r\n", text[i])) {
            clv_checksum_add(state, text + start, i - start);
            start = i + 1;
        }
    }
    clv_checksum_add(state, text + start, n - start);
}

void clv_checksum_add_zeros(clv_checksum_state *s, uint64_t n)
{
    static const uint8_t zeros[N_ZEROS];
    for (size_t part; n > 0; n -= part) {
        part = n < N_ZEROS ? (size_t)n : N_ZEROS;
        clv_checksum_add(s, zeros, part);
    }
}

clv_checksum clv_checksum_end(const clv_checksum_state *s)
{
    XXH128_hash_t sum = XXH3_128bits_digest(&s->state);
    return (clv_checksum){ sum.high64, sum.low64 };
}

static clv_status add_file(clv_checksum_state *s, int fd, uint8_t *buffer, const char *path,
                           int64_t *ret_bytes, clv_error *err)
{
    int64_t total = 0;
    for (;;) {
        ssize_t got = read(fd, buffer, BUFFER);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return clv_fail(err, CLV_EIO, "cannot read %s: %s", path, strerror(errno));
        if (got == 0)
            break;
        clv_checksum_add(s, buffer, (size_t)got);
        total += got;
    }
    *ret_bytes = total;
    return CLV_OK;
}

clv_status clv_checksum_opened(int fd, const char *path, clv_arena *arena, clv_checksum *ret,
                               int64_t *ret_bytes, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    clv_checksum_state *s = clv_checksum_new(arena);
    uint8_t *buffer = clv_arena_take(arena, BUFFER);
    clv_status status = s && buffer ? add_file(s, fd, buffer, path, ret_bytes, err)
                                    : clv_fail_nomem(err, "the checksum of a file");
    if (status == CLV_OK)
        *ret = clv_checksum_end(s);
    close(fd);
    clv_arena_rewind(arena, mark);
    return status;
}

clv_status clv_checksum_file(const char *path, clv_arena *arena, clv_checksum *ret,
                             int64_t *ret_bytes, clv_error *err)
{
    /* O_NONBLOCK: a pipe in the file's place is not waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0 ? clv_checksum_opened(fd, path, arena, ret, ret_bytes, err)
                   : clv_fail(err, CLV_EIO, "cannot open %s: %s", path, strerror(errno));
}

clv_status clv_checksum_inside(const clv_file_inside *file, clv_arena *arena, clv_checksum *ret,
                               int64_t *ret_bytes, clv_error *err)
{
    int fd = -1;
    clv_file_id id;
    CLV_TRY(clv_open_inside_or_fail(file, &fd, &id, err));
    return clv_checksum_opened(fd, file->path, arena, ret, ret_bytes, err);
}
