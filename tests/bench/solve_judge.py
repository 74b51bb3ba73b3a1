#!/usr/bin/env python3
"""solve_judge.py - judges an answer to a strategy problem, independently of the project's code.

Usage: solve_judge.py PROBLEM.json[.gz] ANSWER.json
ANSWER is what `cleave solve --json` prints. Exit status 1 when it is not legal, or not what it says.

Written from docs/formats/strategy.md, with Python's whole numbers, which have no end.
"""
import gzip
import json
import sys

NEVER = 10**18
GAP_TOLERANCE = 1e-12


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return json.load(f)["problem"]


def value(problem, solution):
    """(cost, nevers, the most memory held, the first moment of it or None)"""
    nodes, edges = problem["nodes"], problem["edges"]
    paid = [int(row[c]) for row, c in zip(nodes["costs"], solution)]
    for ends, matrix in zip(edges["nodes"], edges["costs"]):
        at = 0
        for v in ends:
            at = at * len(nodes["costs"][v]) + solution[v]
        paid.append(int(matrix[at]))
    changes = {}
    for (lo, hi), row, c in zip(nodes["intervals"], nodes["usages"], solution):
        if lo < hi:
            changes[lo] = changes.get(lo, 0) + int(row[c])
            changes[hi] = changes.get(hi, 0) - int(row[c])
    now, peak, peak_at = 0, 0, None
    for time in sorted(changes):
        now += changes[time]
        if now > peak:
            peak, peak_at = now, time
    return sum(paid), sum(p >= NEVER for p in paid), peak, peak_at


def judge(problem, answer):
    """what is wrong with it, as sentences"""
    costs, solution = problem["nodes"]["costs"], answer["solution"]
    if len(solution) != len(costs):
        return [f"{len(solution)} choices for {len(costs)} nodes"]
    bad = [v for v, c in enumerate(solution) if not 0 <= c < len(costs[v])]
    if bad:
        return [f"node {bad[0]} takes choice {solution[bad[0]]} of {len(costs[bad[0]])}"]
    cost, nevers, peak, peak_at = value(problem, solution)
    reported = {k: None if answer[k] is None else int(answer[k])
                for k in ("cost", "bound", "peak", "peak_at", "usage_limit")}
    limit = problem.get("usage_limit")
    limit = None if limit is None else int(limit)
    faults = []
    if limit is not None and peak > limit:
        faults.append(f"holds {peak} at time {peak_at}, over the limit of {limit}")
    for key, want in (("cost", cost), ("peak", peak), ("peak_at", peak_at), ("usage_limit", limit)):
        if reported[key] != want:
            faults.append(f"{key} is {want}, reported as {reported[key]}")
    if answer["nevers"] != nevers:
        faults.append(f"has {nevers} nevers, reported as {answer['nevers']}")
    if reported["bound"] > cost:
        faults.append(f"bound {reported['bound']} is above the cost of {cost}")
    gap = (cost - reported["bound"]) / cost if cost else 0
    if abs(answer["gap"] - gap) > GAP_TOLERANCE:
        faults.append(f"gap is {gap}, reported as {answer['gap']}")
    if answer["status"] == "optimal" and reported["bound"] != cost:
        faults.append(f"reported to be optimal with a bound of {reported['bound']} and a cost of {cost}")
    return faults


def main():
    problem = read(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as f:
        faults = judge(problem, json.load(f))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
