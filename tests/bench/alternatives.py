#!/usr/bin/env python3
"""alternatives.py - how much longer does planning take with alternatives and copies than without?

Usage: alternatives.py CLEAVE FOLDER [--runs N] [--devices N] [--cluster NAME] [--only WORD,...]
                       [--objective O,...] [--sizes NAME=N,...] [--limit S] [--run S]

Each model of the folder is planned by each objective as it is, and with --alternatives 0 --copies 1; N times (3), in turn.
Printed are the least seconds of processor time of either and the ratio, the ratio of all together, and the models above
LIMIT. Times are printed, never judged. What it shares with joint.py: --sizes, --limit, --run.
"""
import os
import resource
import statistics
import subprocess
import sys
import time

from joint import CONFIGS, arguments, bindings

LIMIT = 1.5
WITHOUT = ["--alternatives", "0", "--copies", "1"]


def processor_s(argv, seconds):
    """processor time of all threads of a command"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bench(a, path, objective):
    """(seconds with, seconds without), or None"""
    bind = bindings(a.cleave, path)
    if bind is None:
        return None
    what = [a.cleave, "plan", path, "--no-output", "--json", "--cluster", a.cluster, "--devices", str(a.devices), "--objective",
            objective, "--configs", CONFIGS, *bind]
    both = [(processor_s(what, a.run), processor_s(what + WITHOUT, a.run)) for _ in range(a.runs)]
    return tuple(min(s) for s in zip(*both))


def main():
    ap = arguments(limit_s=3600)
    ap.add_argument("--runs", type=int, default=3)
    a = ap.parse_args()
    start = time.monotonic()
    words = [w for w in a.only.split(",") if w]
    print(f"{a.devices} devices of {a.cluster}; seconds of processor time, least of {a.runs}")
    print(f"{'model':36} {'objective':10} {'with':>7} {'without':>7} {'ratio':>6}")
    for objective in a.objective.split(","):
        all_s = []
        for name in sorted(os.listdir(a.folder)):
            if not name.endswith(".onnx") or (words and not any(w in name for w in words)):
                continue
            got = bench(a, os.path.join(a.folder, name), objective) if time.monotonic() - start < a.limit else None
            if not got:
                print(f"{name[:-5]:36} {objective:10} not run: sizes of its symbols are not known, or the time is over")
                continue
            all_s.append(got)
            print(f"{name[:-5]:36} {objective:10} {got[0]:7.3f} {got[1]:7.3f} {got[0] / got[1]:6.2f}", flush=True)
        if all_s:
            ratios = [w / wo for w, wo in all_s]
            print(f"{'all ' + str(len(all_s)):36} {objective:10} {sum(w for w, _ in all_s):7.3f} {sum(wo for _, wo in all_s):7.3f} "
                  f"{sum(w for w, _ in all_s) / sum(wo for _, wo in all_s):6.2f}  median {statistics.median(ratios):.2f}, "
                  f"{sum(r > LIMIT for r in ratios)} above {LIMIT}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
