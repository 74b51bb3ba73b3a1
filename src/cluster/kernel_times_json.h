/* kernel_times_json.h - reading configs/measured/X.json: measured times of kernels of a device.
 *
 * The schema is configs/schema/measured.schema.json, docs/formats/measured.md explains it. Kinds of
 * kernels and their axes are those of timed_kernel.h:
 *
 *   { "$schema": "../schema/measured.schema.json", "version": 1,
 *     "name": "h100-sxm", "source": "...", "date": "2026-08-21",
 *     "tables": [
 *       { "kernel": "product", "dtype": "BFLOAT16", "weights": "BFLOAT16", "library": "...",
 *         "axes": { "m": [1, 8, ...], "n": [...], "k": [...] },
 *         "us": [2.58, ...], "rows": 7640, "error": { "median": 0.018, "p95": 0.104 } },
 *       { "kernel": "collective", "operation": "all_reduce", "devices": 8, "library":
 * "nccl 2.29.2", "axes": { "bytes": [...] }, "us": [...] } ] }
 *
 * us has a time for each combination of knots, the last axis running fastest.
 */
#ifndef CLV_CLUSTER_KERNEL_TIMES_JSON_H
#define CLV_CLUSTER_KERNEL_TIMES_JSON_H

#include "cluster/kernel_times.h"

/* From the n bytes of a file; what names it in messages. Unknown keys, two tables for the same,
 * knots that do not ascend, times that are not above 0, too few or too many of them, or that fall
 * along an axis, are CLV_EFORMAT with where. Lives in the arena. O(bytes). */
clv_status clv_kernel_times_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                                  clv_kernel_times **ret, clv_error *err);

#endif
