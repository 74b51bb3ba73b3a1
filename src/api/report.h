/* report.h - what an object or a call has to say: as text and as JSON. */
#ifndef CLV_API_REPORT_H
#define CLV_API_REPORT_H

#include <stdbool.h>

#include "base/arena.h"
#include "cleave.h"
#include "explain/text.h"

struct cleave_report {
    clv_arena *arena;        /* both lie there */
    const char *text, *json; /* NUL-terminated; NULL: not asked for */
    size_t json_size;        /* without the NUL */
    bool is_own;             /* the arena is the report's alone, and goes with it */
    clv_text_form form;      /* how the text is to look: clv_control_form() */
};

/* An empty report with an arena of its own, on that allocator (NULL: malloc). NULL without memory.
 */
cleave_report *clv_report_new(const clv_alloc *alloc);

#endif
