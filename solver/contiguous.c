#include "solver/contiguous.h"

#include <math.h>

#include "solver/ideals.h"
#include "solver/lines.h"

/* Blocks added to pieces, some 50 ns each: for a first try of the exact search, for lines, and for
 * the exact search in the end. */
#define STEPS_FIRST INT64_C(4000000)
#define STEPS_LINES INT64_C(100000000)
#define STEPS_LAST  INT64_C(600000000)
/* More blocks are not searched over ideals: each step takes a look at a row of bits. */
#define BLOCKS_MAX 4096

/* Parts of the way from the bound to the best answer at which the limit is tried. */
static const double parts[] = { 1.0 / 32, 1.0 / 8, 1.0 / 3, 1 };
#define N_PARTS (sizeof parts / sizeof *parts)
/* Times the bound at which the first line is tried, before any load is allowed. */
static const double stretches[] = { 1.02, 1.1, 1.5, 4, INFINITY };
#define N_STRETCHES (sizeof stretches / sizeof *stretches)

static void raise(const clv_ideals *s, int64_t ticks)
{
    clv_run_raise(s->run, s->name, clv_blocks_unit(s->growth.b, ticks));
}

/* In ticks, the largest load worth having: below the best answer. */
static int64_t top_limit(const clv_ideals *s)
{
    double best = clv_run_best(s->run);
    return isinf(best) ? CLV_TICKS_MAX : clv_blocks_ticks(s->growth.b, best) - 1;
}

/* The best cut of the line, whatever its loads. */
static clv_status cut_line(clv_ideals *line, clv_error *err)
{
    clv_ideals_outcome o = CLV_IDEALS_NONE;
    int64_t load;
    for (size_t i = 0; i < N_STRETCHES && o == CLV_IDEALS_NONE; i++) {
        double limit = (double)line->growth.low * stretches[i];
        CLV_TRY(clv_ideals_try(line, limit < (double)CLV_TICKS_MAX ? (int64_t)limit : CLV_TICKS_MAX,
                               &o, &load, err));
    }
    return CLV_OK;
}

static clv_status close_in(clv_ideals *s, clv_error *err)
{
    int64_t high = top_limit(s);
    for (size_t i = 0; i < N_PARTS && s->growth.low <= high; i++) {
        clv_ideals_outcome o;
        int64_t load = 0, low = s->growth.low;
        int64_t limit = i + 1 < N_PARTS ? low + (int64_t)((double)(high - low) * parts[i]) : high;
        CLV_TRY(clv_ideals_try(s, limit, &o, &load, err));
        if (o == CLV_IDEALS_SOME)
            return CLV_OK;
        raise(s, o == CLV_IDEALS_BEST ? load : limit + 1);
        if (o == CLV_IDEALS_BEST)
            return CLV_OK;
        s->growth.low = limit + 1;
    }
    if (s->growth.low > CLV_TICKS_MAX)
        clv_run_raise(s->run, s->name, INFINITY); /* not with any load */
    return CLV_OK;
}

/* Fewest devices: one limit, which is given, and all loads up to it are alike. */
static clv_status count_devices(clv_ideals *line, clv_ideals *s, int64_t limit, clv_error *err)
{
    clv_ideals_outcome o;
    int64_t load;
    line->count_only = s->count_only = true;
    line->growth.low = s->growth.low = limit;
    CLV_TRY(clv_ideals_try(line, limit, &o, &load, err));
    if (clv_run_over(s->run))
        return CLV_OK;
    CLV_TRY(clv_ideals_try(s, limit, &o, &load, err));
    if (o != CLV_IDEALS_SOME)
        clv_run_raise(s->run, s->name, clv_run_best(s->run)); /* INFINITY without an answer */
    return CLV_OK;
}

clv_status clv_solve_contiguous(clv_place_run *run, const clv_blocks *b, clv_arena *arena,
                                clv_error *err)
{
    const clv_place_rules *rules = &clv_run_options(run)->rules;
    clv_ideals s, line;
    CLV_TRY(clv_solve_fill(run, b, arena, err));
    if (b->n > BLOCKS_MAX || clv_run_over(run))
        return CLV_OK;
    CLV_TRY(clv_ideals_new(run, "order ideals", b, false, STEPS_FIRST, arena, &s, err));
    CLV_TRY(clv_ideals_new(run, "one line", b, true, STEPS_LINES, arena, &line, err));
    if (rules->objective == CLV_PLACE_DEVICES) {
        s.steps = STEPS_LAST;
        return count_devices(
            &line, &s, rules->max_load > 0 ? clv_blocks_ticks(b, rules->max_load) : CLV_TICKS_MAX,
            err);
    }
    s.growth.low = line.growth.low = clv_share_least_limit(&s.share);
    CLV_TRY(cut_line(&line, err));
    if (!clv_run_over(run))
        CLV_TRY(close_in(&s, err));
    if (!clv_run_over(run))
        CLV_TRY(clv_solve_lines(run, b, s.growth.low, STEPS_LINES, arena, err));
    s.steps = STEPS_LAST;
    return clv_run_over(run) ? CLV_OK : close_in(&s, err);
}
