#!/usr/bin/env python3
"""alternatives.py - how much longer does planning take with alternatives and copies than without?

Usage: alternatives.py CLEAVE FOLDER [--runs N] [--devices N] [--cluster NAME] [--only WORD,...]
                       [--objective O,...] [--sizes NAME=N,...] [--limit S] [--run S]

Each model of the folder is planned by each objective as it is, and with --alternatives 0 --copies 1; N times (3), in turn.
Printed are the least seconds of processor time of either and the ratio, the ratio of all together, and the models above
LIMIT. Times are printed, never judged. What it shares with joint.py: --sizes, --limit, --run.
"""
import os
import statistics
import sys
import time

from bench import run
from joint import CONFIGS, arguments, bindings, models

LIMIT = 1.5
WITHOUT = ["--alternatives", "0", "--copies", "1"]


def bench(a, path, objective):
    """(seconds with, seconds without), or None"""
    bind = bindings(a.cleave, path)
    if bind is None:
        return None
    what = ["timeout", str(a.run), a.cleave, "plan", path, "--no-output", "--json", "--cluster", a.cluster, "--devices",
            str(a.devices), "--objective", objective, "--configs", CONFIGS, *bind]
    both = [(run(what)[3], run(what + WITHOUT)[3]) for _ in range(a.runs)]
    return tuple(min(s) for s in zip(*both))


def main():
    ap = arguments(limit_s=3600)
    ap.add_argument("--runs", type=int, default=3)
    a = ap.parse_args()
    start = time.monotonic()
    print(f"{a.devices} devices of {a.cluster}; seconds of processor time, least of {a.runs}")
    print(f"{'model':36} {'objective':10} {'with':>7} {'without':>7} {'ratio':>6}")
    for objective in a.objective.split(","):
        all_s = []
        for path in models(a):
            name = os.path.basename(path).replace(".onnx", "")
            got = bench(a, path, objective) if time.monotonic() - start < a.limit else None
            if not got:
                print(f"{name:36} {objective:10} not run: sizes of its symbols are not known, or the time is over")
                continue
            all_s.append(got)
            print(f"{name:36} {objective:10} {got[0]:7.3f} {got[1]:7.3f} {got[0] / got[1]:6.2f}", flush=True)
        if all_s:
            ratios = [w / wo for w, wo in all_s]
            print(f"{'all ' + str(len(all_s)):36} {objective:10} {sum(w for w, _ in all_s):7.3f} {sum(wo for _, wo in all_s):7.3f} "
                  f"{sum(w for w, _ in all_s) / sum(wo for _, wo in all_s):6.2f}  median {statistics.median(ratios):.2f}, "
                  f"{sum(r > LIMIT for r in ratios)} above {LIMIT}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
