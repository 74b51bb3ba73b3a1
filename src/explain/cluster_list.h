/* cluster_list.h - the clusters that there are, or one of them, as they are shown:
 * report_clusters.h and report_clusters_json.h.
 */
#ifndef CLV_EXPLAIN_CLUSTER_LIST_H
#define CLV_EXPLAIN_CLUSTER_LIST_H

#include "cluster/description.h"

/* A description that is not valid, or cannot be read. */
typedef struct {
    const char *name;
    const char *why; /* a sentence that names the file */
} clv_wrong_cluster;

typedef struct {
    const clv_described_cluster *at; /* by name */
    int32_t n;
    const clv_wrong_cluster *wrong; /* by name */
    int32_t n_wrong;
    bool details; /* one was asked for: its numbers are shown, with their sources */
} clv_cluster_list;

/* The kinds of their devices by name, those of one file once, in the arena; NULL without memory.
 * O(kinds log kinds). */
const clv_described_kind **clv_cluster_list_kinds(const clv_cluster_list *list, clv_arena *arena,
                                                  int32_t *ret_n);

/* The highest peak rate of matrix units for types of that many bits, floating-point or not; 0: none
 * is given. O(types). */
double clv_kind_matrix_peak(const clv_device_kind *kind, int bits);

#endif
