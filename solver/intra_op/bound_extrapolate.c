/* bound_extrapolate.c - see bound_extrapolate.h. */
#include "solver/intra_op/bound_extrapolate.h"

#include <math.h>
#include <string.h>

/* How far, times the way since the last extrapolation. */
#define LONGER  1.1
#define SHORTER 0.5
#define LONGEST 2.0
/* The same of the longest step that prices may take. */
#define STEP_SHORTER 0.7

static void save_messages_state(clv_intra_op_bound *b)
{
    memcpy(b->last_price, b->price, (size_t)b->n_rows * sizeof *b->price);
    b->last_level = b->level;
}

bool clv_bound_extrapolate(clv_intra_op_bound *b)
{
    size_t size = (size_t)b->n_messages * sizeof *b->message;

    if (!b->counts)
        return true; /* nothing would show whether it was good */
    if (!b->has_last) {
        memcpy(b->last_message, b->message, size);
        save_messages_state(b);
        b->has_last = true;
        return true;
    }
    if (b->level < b->last_level) {
        memcpy(b->message, b->last_message, size);
        memcpy(b->price, b->last_price, (size_t)b->n_rows * sizeof *b->price);
        clv_bound_set_memory_costs(b);
        b->extrapolation *= SHORTER;
        b->longest = fmax(FIRST_STEP, b->longest * STEP_SHORTER);
        b->step = fmin(b->step, b->longest);
        memset(b->mean, 0, (size_t)b->n_rows * sizeof *b->mean);
        return false;
    }
    b->extrapolation = b->extrapolation * LONGER < LONGEST ? b->extrapolation * LONGER : LONGEST;
    b->longest = b->longest * LONGER < LONGEST_STEP ? b->longest * LONGER : LONGEST_STEP;
    for (int64_t i = 0; i < b->n_messages; i++) {
        double now = b->message[i], then = b->last_message[i];

        b->last_message[i] = now;
        if (now >= b->enough || then >= b->enough)
            continue;
        now += b->extrapolation * (now - then);
        b->message[i] = now < b->enough ? now : b->enough;
    }
    save_messages_state(b);
    return true;
}
