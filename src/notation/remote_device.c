#include "notation/remote_device.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/suggest.h"

#define NUMBER_MAX  INT32_MAX /* ranks and indices; PyTorch's are 32 and 8 bits */
#define WORKER_MAX  255       /* characters of a worker's name: hostile files have longer ones */

#define LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS      "0123456789"
#define NAME_LETTER LETTERS DIGITS "_-." /* of a worker; PyTorch has no '.', host names do */

/* The device types of torch.device. */
static const char *const types[] = {
    "cpu",  "cuda", "ipu", "xpu",  "mkldnn", "opengl", "opencl", "ideep", "hip",  "ve",
    "fpga", "maia", "xla", "lazy", "vulkan", "mps",    "meta",   "hpu",   "mtia", "privateuseone",
};
enum { N_TYPES = (int)(sizeof types / sizeof types[0]) };

static clv_status fail(const char *text, const char *expected, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "device '%.100s': expected %s", text, expected);
}

/* Decimal digits without leading zeros, and nothing behind them. */
static bool read_number(const char *at, size_t n, int64_t *ret)
{
    int64_t value = 0;

    if (n == 0 || n != strspn(at, DIGITS) || (at[0] == '0' && n > 1))
        return false;
    for (size_t i = 0; i < n; i++) {
        value = value * 10 + (at[i] - '0');
        if (value > NUMBER_MAX)
            return false;
    }
    *ret = value;
    return true;
}

static clv_status fail_type(const char *text, const char *type, size_t n, clv_error *err)
{
    char word[32] = "";

    if (n == 0)
        return fail(text, "a device such as 'cuda:0' or 'rank:0/cuda:0'", err);
    memcpy(word, type, n < sizeof word ? n : sizeof word - 1);
    const char *near = clv_suggest(word, types, N_TYPES);
    return clv_fail(err, CLV_EFORMAT,
                    "device '%.100s': '%s' is no device type, expected one such as '%s'", text,
                    word, near ? near : "cuda");
}

/* "cuda:0", all that is left. */
static clv_status read_local(const char *text, const char *at, clv_remote_device *ret,
                             clv_error *err)
{
    size_t n = strcspn(at, ":");

    ret->index = CLV_DEVICE_NOT_SAID;
    for (int i = 0; i < N_TYPES && !ret->type; i++)
        if (strlen(types[i]) == n && memcmp(types[i], at, n) == 0)
            ret->type = types[i];
    if (!ret->type)
        return fail_type(text, at, n, err);
    if (at[n] && !read_number(at + n + 1, strlen(at + n + 1), &ret->index))
        return fail(text, "a whole number below 2^31 behind the device type", err);
    return CLV_OK;
}

static clv_status read_owner(const char *text, size_t n, clv_arena *arena, clv_remote_device *ret,
                             clv_error *err)
{
    static const char rank[] = "rank:";
    const size_t n_rank = sizeof rank - 1;

    if (n >= n_rank && memcmp(text, rank, n_rank) == 0) {
        if (!read_number(text + n_rank, n - n_rank, &ret->rank))
            return fail(text, "a whole number below 2^31 between 'rank:' and '/'", err);
        return CLV_OK;
    }
    if (n == 0 || n > WORKER_MAX || strspn(text, NAME_LETTER) != n)
        return fail(text,
                    "'rank:' and a number, or a worker's name of letters, digits, '_', '-' and "
                    "'.', before the '/'",
                    err);
    ret->worker = clv_arena_printf(arena, "%.*s", (int)n, text);
    return ret->worker ? CLV_OK : clv_fail_nomem(err, "device");
}

clv_status clv_remote_device_parse(const char *text, clv_arena *arena, clv_remote_device *ret,
                                   clv_error *err)
{
    clv_remote_device device = { .rank = CLV_DEVICE_NOT_SAID };
    const char *slash = strchr(text, '/');

    if (slash && strchr(slash + 1, '/'))
        return fail(text, "one '/' at most, between rank or worker and device", err);
    if (!slash && strncmp(text, "rank:", 5) == 0)
        return fail(text, "'/' and a device, such as 'cuda:0', behind the rank", err);
    CLV_TRY(read_local(text, slash ? slash + 1 : text, &device, err));
    if (slash)
        CLV_TRY(read_owner(text, (size_t)(slash - text), arena, &device, err));
    *ret = device;
    return CLV_OK;
}

const char *clv_remote_device_print(const clv_remote_device *device, clv_arena *arena)
{
    char owner[WORKER_MAX + 2] = "", index[32] = "";

    if (device->worker)
        clv_add_words(owner, sizeof owner, 0, "%s/", device->worker);
    else if (device->rank != CLV_DEVICE_NOT_SAID)
        clv_add_words(owner, sizeof owner, 0, "rank:%" PRId64 "/", device->rank);
    if (device->index != CLV_DEVICE_NOT_SAID)
        clv_add_words(index, sizeof index, 0, ":%" PRId64, device->index);
    return clv_arena_printf(arena, "%s%s%s", owner, device->type, index);
}

static int cmp_int(int64_t a, int64_t b) { return (a > b) - (a < b); }

int clv_remote_device_cmp(const clv_remote_device *a, const clv_remote_device *b)
{
    int d = cmp_int(a->rank, b->rank);

    if (d == 0)
        d = strcmp(a->worker ? a->worker : "", b->worker ? b->worker : "");
    if (d == 0)
        d = strcmp(a->type, b->type);
    return d ? d : cmp_int(a->index, b->index);
}
