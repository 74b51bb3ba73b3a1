/* resident_memory.h - how much memory the process has held, as the system tells it. */
#ifndef CLV_RUN_RESIDENT_MEMORY_H
#define CLV_RUN_RESIDENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that are resident now (VmRSS), and the most since the last restart (VmHWM). 0 where the
 * system does not tell. */
typedef struct {
    int64_t now, most;
} clr_resident;

clr_resident clr_resident_read(void);
/* The most is now what is held now. False where the system has no such thing: then `most` goes on
 * from before. */
bool clr_resident_reset_peak(void);

/* Around something: what is held before it, 0 where the most cannot be restarted, and what was held
 * at most while it lasted. *peak grows to the most that was ever seen. */
int64_t clr_resident_begin(int64_t *peak);
clr_resident clr_resident_end(int64_t *peak);

#endif
