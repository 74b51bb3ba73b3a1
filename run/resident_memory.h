/* resident_memory.h - how much memory the process has held, as the system reports it. */
#ifndef CLV_RUN_RESIDENT_MEMORY_H
#define CLV_RUN_RESIDENT_MEMORY_H

#include <stdint.h>

/* Bytes that are resident now (VmRSS), and the most since the peak was reset last (VmHWM). 0 where
 * the system does not report it. */
typedef struct {
    int64_t now_bytes, peak_bytes;
} clr_resident;

/* Around something: what is held before it, 0 where the system cannot reset the peak, and what was
 * held at most while it lasted. *most_bytes grows to the most that was ever seen. */
int64_t clr_resident_begin(int64_t *most_bytes);
clr_resident clr_resident_end(int64_t *most_bytes);

#endif
