/* annealing.h - simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983): the schedule of
 * temperatures and who is taken; the moves are the searches' own.
 *
 * Temperatures fall geometrically from hot to cold, both in the unit of the energy.
 */
#ifndef CLV_SOLVER_COMMON_ANNEALING_H
#define CLV_SOLVER_COMMON_ANNEALING_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The factor between one temperature and the next, where the last of so many steps is at the part
 * cold_part of the first temperature. */
static inline double clv_annealing_cooling(double cold_part, double steps)
{
    return steps > 0 ? pow(cold_part, 1 / steps) : 1;
}

/* The temperature when so much is done, 0 to 1, from hot to hot * cold_part. */
static inline double clv_annealing_temperature(double hot, double cold_part, double done)
{
    return hot * pow(cold_part, done);
}

/* The criterion of Metropolis (1953): a worse state, by so much more energy, is taken with
 * probability exp(-more / temperature). draw: uniform, 0 to 1. */
static inline bool clv_annealing_takes(double more, double temperature, double draw)
{
    return more <= 0 || draw < exp(-more / temperature);
}

#endif
