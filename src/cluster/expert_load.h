/* expert_load.h - how many tokens fall on the experts of the fullest device.
 *
 * A mixture of experts ends when the device with the most to do ends, so that one is what is timed.
 * With a power law the experts' loads are quantiles of it, as benchmarks of serving engines draw
 * them (NVIDIA aiconfigurator), clipped at one row for each token; which experts stand together is
 * the mean over fixed draws.
 */
#ifndef CLV_CLUSTER_EXPERT_LOAD_H
#define CLV_CLUSTER_EXPERT_LOAD_H

#include "cluster/kernel_shape.h"

#define CLV_EXPERTS_MAX 1024

/* Where nobody says how tokens fall on experts: evenly. Routers are trained towards that (balancing
 * losses: Shazeer et al. 2017, Fedus et al. 2021), and of Mixtral it is published that no expert is
 * preferred (Jiang et al. 2024, section 5); a power law would need an exponent that no model file
 * has. */
#define CLV_EXPERTS_SKEW 0.0

typedef struct {
    double rows; /* tokens, each counted for every expert that it goes to; at least 1 */
    double hit;  /* experts that any goes to; at least 1 */
} clv_expert_load;

/* shape: of EXPERTS. False where its numbers make no sense, or there are more experts than
 * CLV_EXPERTS_MAX. O(experts), with a power law 16 times. */
bool clv_expert_load_of(const clv_kernel_shape *shape, clv_expert_load *ret);

#endif
