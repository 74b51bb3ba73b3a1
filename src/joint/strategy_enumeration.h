/* strategy_enumeration.h - of a small model all choices of strategies that may be part of a better
 * plan in several stages, the most promising first.
 *
 * What strategies cost as one sum says little of several stages: what waits for each other is done
 * one after the other, what does not may be done side by side, and what goes from stage to stage
 * takes a transfer. So operators are given strategies and stages together, in the order in which
 * they run, and run as the judge of plans runs them, but for transfers that wait for each other, in
 * the memory of the problem and of each stage (stage_memory.h): depth-first branch and bound (Land
 * and Doig 1960). The plans themselves are for the partition solver to find and for the compiler to
 * judge.
 */
#ifndef CLV_JOINT_STRATEGY_ENUMERATION_H
#define CLV_JOINT_STRATEGY_ENUMERATION_H

#include "joint/stage_memory.h"

typedef struct {
    clv_stage_space of;
    bool latency;     /* what is to be small: of one sample, else of the busiest stage */
    clv_int128 from;  /* ns: solutions with less of a floor are known already */
    clv_int128 below; /* ns: plans that take so long are of no use */
    int32_t most;     /* solutions listed, those of the least floors */
} clv_enumeration;

typedef struct {
    int32_t n;
    clv_int128 *floor;        /* n, ns, not falling: no plan with this solution takes less */
    const int32_t **solution; /* n, each legal: of the intra-operator problem, by node */
    clv_int128 rest; /* ns, at most `below`: no plan with another solution that is not known takes
                        less; 0: unknown */
    int32_t tries;   /* operators given a strategy and a stage */
} clv_strategy_list;

/* Is a model small enough for so many stages? O(operators). */
bool clv_strategies_may_be_few(const clv_types *types, int32_t n_stages);

/* For such a model. Everything lives in the arena. O(2^22) operators given a strategy and a stage
 * at most, each O(edges at it + stages + moments of its spans + tensors that wait, for each edge);
 * where that is not enough, nothing is listed and rest is 0.
 */
clv_status clv_strategies_enumerate(const clv_enumeration *e, clv_arena *arena,
                                    clv_strategy_list *ret, clv_error *err);

#endif
