/* place_convert.h - a problem of place_oracle.h as the product's, and back. */
#ifndef CLV_TESTS_PLACE_CONVERT_H
#define CLV_TESTS_PLACE_CONVERT_H

#include "problem/place_problem.h"

#include "support/place_oracle.h"

/* Lives in the arena; node v has the id 10 * v + 7. Ends the program without memory. */
clv_place_problem *placement_of(const oracle_problem *p, clv_arena *arena);
clv_place_rules placement_rules(const oracle_rules *rules);

/* false when it is too large for an oracle_problem, and then *ret is of no use. */
bool oracle_of(const clv_place_problem *p, oracle_problem *ret);

#endif
