#!/usr/bin/env python3
"""pool.py - does a slow compiler keep all jobs busy, and is the plan the same at any number of them?

Usage: pool.py CLEAVE [--models FOLDER] [--only WORD,...] [--seconds S] [--jobs N,...] [--scratch FOLDER] [-- OPTION...]

Each model of FOLDER is planned by each objective for 4 devices (or with the OPTIONs) with a compiler that takes S seconds
(0.5), asleep, and then answers times that no sums foretell: any number between 1 and 2 ms, the same for the same candidate.
The first number of jobs is what the others are compared with: printed are the candidates judged, the seconds with it, and how
many times faster each other one is. Times are printed, never judged. Exit code 1 where the files of two plans differ.
"""
import argparse
import json
import os
import statistics
import sys

from bench import plannable, run

COMPILER = """#!/bin/sh
sleep {seconds} &
set -- $(cksum <"$CLEAVE_PLAN")
wait
echo "{{\\"version\\": 1, \\"outcome\\": \\"fits\\", \\"latency_ms\\": 1.$(($1 % 900 + 100))}}"
"""


def planned(a, path, options, jobs):
    """(bytes of the plan file, candidates judged, wall seconds)"""
    plan = os.path.join(a.scratch, f"{jobs}.json")
    code, _, wall, *_ = run([a.cleave, "plan", path, "-q", "--no-output", "--plan-out", plan, "--jobs", jobs,
                             "--compiler", a.compiler, *options])
    if code:
        return None, 0, wall
    with open(plan, "rb") as f:
        data = f.read()
    return data, json.loads(data)["search"]["judged"], wall


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("cleave")
    p.add_argument("--models", default=os.path.join(here, "..", "data", "models"))
    p.add_argument("--only", default="")
    p.add_argument("--seconds", default="0.5")
    p.add_argument("--jobs", default="1,2,4,16")
    p.add_argument("--scratch", default=".")
    p.add_argument("options", nargs="*", default=[])
    a = p.parse_args()
    a.scratch, a.options = os.path.abspath(a.scratch), a.options or ["--devices", "4"]
    os.makedirs(a.scratch, exist_ok=True)
    a.compiler = os.path.join(a.scratch, "compiler.sh")
    with open(a.compiler, "w", encoding="ascii") as f:
        f.write(COMPILER.format(seconds=a.seconds))
    os.chmod(a.compiler, 0o755)
    first, *more = a.jobs.split(",")
    ratios, differing = {n: [] for n in more}, 0
    print(f"{'model':28} {'objective':10} {'judged':>6} {'jobs ' + first:>8}", *(f"{'jobs ' + n:>8}" for n in more), "plan files")
    for name, path, bind in plannable(a):
        if not any(word in name for word in a.only.split(",")):
            continue
        for objective in ("latency", "throughput"):
            options = [*bind, "--objective", objective, *a.options]
            base, judged, wall = planned(a, path, options, first)
            others = {n: planned(a, path, options, n) for n in more}
            same = base is not None and all(data == base for data, *_ in others.values())
            differing += not same
            for n in more:
                ratios[n].append(wall / others[n][2])
            print(f"{name:28} {objective:10} {judged:6} {wall:7.2f}s", *(f"{ratios[n][-1]:7.2f}x" for n in more),
                  "the same" if same else "DIFFER", flush=True)
    for n in more:
        if ratios[n]:
            print(f"{n} jobs: {statistics.median(ratios[n]):.2f} times as fast as {first} in the median, "
                  f"{min(ratios[n]):.2f} at least")
    return differing > 0


if __name__ == "__main__":
    sys.exit(main())
