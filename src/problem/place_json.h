/* place_json.h - workloads of the NeurIPS 2020 placement paper, as it published them.
 *
 * {"maxSizePerFPGA": bytes, "maxFPGAs": k, "maxCPUs": l, "nodes": [...], "edges": [...]}; kind 0 is
 * "accelerator" (pays for transfers, has the memory), kind 1 is "cpu". docs/formats/workload.md.
 */
#ifndef CLV_PROBLEM_PLACE_JSON_H
#define CLV_PROBLEM_PLACE_JSON_H

#include "problem/place_problem.h"

/* what names the text in messages. CLV_EFORMAT with one sentence for what is missing, not a number,
 * negative, twice there, an edge to nowhere or from a backward node to a forward one, a cycle. The
 * result lives in the arena and does not refer to text. O(text + (nodes + edges) log). */
clv_status clv_place_read_text(const char *text, size_t n, const char *what, clv_arena *arena,
                               clv_place_problem **ret, clv_error *err);

#endif
