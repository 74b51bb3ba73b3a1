#!/usr/bin/env python3
"""make.py - makes the problems beside it that nobody published: make.py writes them all again.

Like those of the contest: nodes in the order of time with a few choices that trade cost for memory, edges
to nodes shortly before, few different matrices with some "never" in them, a limit near the smallest peak.
"""
import json
import os
import random

NEVER = 10**18
PROBLEMS = {  # name: seed, nodes, choices of a node, edges to earlier nodes, longest life, limit / least peak
    "chain300": (1, 300, [2, 3, 4, 6], 1, 12, 1.1),
    "graph800": (2, 800, [2, 3, 4, 8], 2, 25, 1.1),
    "many_choices": (3, 60, [8, 16, 24], 2, 15, 1.15),
}


def make(seed, n, sizes, reach, life, slack):
    r = random.Random(seed)
    choices = [r.choice(sizes) for _ in range(n)]
    spans = [[v, v + r.randint(1, life)] if r.random() < 0.85 else [0, 0] for v in range(n)]
    bytes_of = [r.randint(10, 999) for _ in range(n)]
    usages = [[8 * b // (1 + k) for k in range(c)] for b, c in zip(bytes_of, choices)]
    costs = [[r.choice([0, k * r.randint(1, 60)]) for k in range(c)] for c in choices]
    kept = {}

    def matrix(a, b):
        key = a, b, r.randint(0, 4)
        if key not in kept:
            kept[key] = [0 if r.random() < 0.35 else NEVER if r.random() < 0.06 else r.randint(1, 5000)
                         for _ in range(a * b)]
        return kept[key]

    ends, entries = [], []
    for v in range(1, n):
        for u in sorted({max(0, v - 1 - int(r.expovariate(0.4))) for _ in range(reach)}):
            ends.append([u, v])
            entries.append(matrix(choices[u], choices[v]))
    least = max(sum(min(u) for u, (lo, hi) in zip(usages, spans) if lo <= t < hi) for t in range(n + life))
    return {"problem": {"name": f"made {seed}",
                        "nodes": {"intervals": spans, "costs": costs, "usages": usages},
                        "edges": {"nodes": ends, "costs": entries}, "usage_limit": int(least * slack)}}


if __name__ == "__main__":
    for name, arguments in PROBLEMS.items():
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(make(*arguments), f, separators=(",", ":"))
            f.write("\n")
