#include "cost/alpha_beta.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

const char *clv_algorithm_name(clv_algorithm by)
{
    static const char *const names[] = {
        "ring", "halving", "tree", "direct", "hierarchy", "library"
    };
    return names[by];
}

static int64_t line_ns(const clv_line *line, int64_t bytes)
{
    double ns = ceil((double)bytes * line->ns_per_byte);
    if (ns >= (double)(CLV_COMM_NS_MAX - line->latency_ns))
        return CLV_COMM_NS_MAX;
    return line->latency_ns + (int64_t)ns;
}

const clv_line *clv_curve_line(const clv_curve *curve, int64_t bytes)
{
    const clv_line *best = NULL;
    for (int32_t i = 0; i < curve->n; i++)
        if (!best || line_ns(&curve->at[i], bytes) < line_ns(best, bytes))
            best = &curve->at[i];
    return best;
}

static int64_t measured_ns(const clv_curve *curve, int64_t bytes)
{
    double at = log2((double)bytes / (double)CLV_POINTS_FROM);
    int32_t last = curve->n_points - 1, i = at > 0 ? (int32_t)at : 0;
    double ns;
    if (at <= 0)
        ns = curve->ns[0];
    else if (i >= last)
        ns = curve->ns[last] * exp2(at - last);
    else
        ns = curve->ns[i] * pow(curve->ns[i + 1] / curve->ns[i], at - i);
    return ns < (double)CLV_COMM_NS_MAX ? (int64_t)ceil(ns) : CLV_COMM_NS_MAX;
}

int64_t clv_curve_ns(const clv_curve *curve, int64_t bytes)
{
    int64_t best = curve->n > 0 ? CLV_COMM_NS_MAX : 0;
    if (bytes == 0)
        return 0;
    if (curve->n_points > 0)
        return measured_ns(curve, bytes);
    for (int32_t i = 0; i < curve->n; i++) {
        int64_t ns = line_ns(&curve->at[i], bytes);
        best = ns < best ? ns : best;
    }
    return best;
}

void clv_lines_add(clv_lines *lines, clv_line line)
{
    if (lines->n == CLV_LINES_TRIED)
        clv_lines_prune(lines);
    int32_t i = lines->n++;
    for (; i > 0; i--) {
        const clv_line *before = &lines->at[i - 1];
        if (line.latency_ns > before->latency_ns ||
            (line.latency_ns == before->latency_ns && line.ns_per_byte >= before->ns_per_byte))
            break;
        lines->at[i] = *before;
    }
    lines->at[i] = line;
}

/* Lines a, b, c by rising latency and falling rate: b is nowhere the lowest when c passes below a
 * before b does. */
static bool never_lowest(const clv_line *a, const clv_line *b, const clv_line *c)
{
    double to_b = (double)(b->latency_ns - a->latency_ns) / (a->ns_per_byte - b->ns_per_byte);
    double to_c = (double)(c->latency_ns - a->latency_ns) / (a->ns_per_byte - c->ns_per_byte);
    return to_c <= to_b;
}

void clv_lines_prune(clv_lines *lines)
{
    int32_t n = 0;

    for (int32_t i = 0; i < lines->n; i++) {
        clv_line line = lines->at[i];
        if (n > 0 && line.ns_per_byte >= lines->at[n - 1].ns_per_byte)
            continue;
        while (n > 1 && never_lowest(&lines->at[n - 2], &lines->at[n - 1], &line))
            n--;
        lines->at[n++] = line;
    }
    if (n > CLV_LINES_MAX) { /* keep the one for the longest tensors */
        lines->at[CLV_LINES_MAX - 1] = lines->at[n - 1];
        n = CLV_LINES_MAX;
    }
    lines->n = n;
}
