/* remote_device.h - a device in PyTorch's RemoteDevice form: "cuda:0", "cpu", "rank:1/cuda:0",
 * "worker/cuda:0".
 *
 * "cuda" is the device that the process is set to, and not "cuda:0". A text without a device
 * ("rank:0", "trainer") stands for its cpu in PyTorch; here it is refused, because it is more often
 * a slip.
 */
#ifndef CLV_NOTATION_REMOTE_DEVICE_H
#define CLV_NOTATION_REMOTE_DEVICE_H

#include "base/arena.h"

#define CLV_DEVICE_NOT_SAID (-1)

typedef struct {
    int64_t rank;       /* CLV_DEVICE_NOT_SAID: none, or a worker's name instead */
    int64_t index;      /* CLV_DEVICE_NOT_SAID: "cpu" */
    const char *worker; /* NULL: none */
    const char *type;   /* "cuda"; static */
} clv_remote_device;

/* CLV_EFORMAT names the text and what was expected in it. The worker's name is copied. O(text). */
clv_status clv_remote_device_parse(const char *text, clv_arena *arena, clv_remote_device *ret,
                                   clv_error *err);
/* The text that parses back to the same. NULL: no memory. */
const char *clv_remote_device_print(const clv_remote_device *device, clv_arena *arena);
/* By rank, worker, type and index; what is not said comes first. 0: the same device. */
int clv_remote_device_cmp(const clv_remote_device *a, const clv_remote_device *b);

#endif
