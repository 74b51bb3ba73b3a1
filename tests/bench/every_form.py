#!/usr/bin/env python3
"""every_form.py - the plan that is found against the best of every form, tried one by one.

Usage: every_form.py CLEAVE FOLDER [--devices N] [--cluster NAME] [--only WORD,...] [--objective O,...]
                     [--sizes NAME=N,...] [--before CLEAVE] [--limit S] [--run S]

A form deals N devices out to copies (by throughput), stages and meshes of one or two axes: pure tensor, pipeline and data
parallel, copies alone, and all their products. For each model of the folder the plan with --worth 0 must be at least as
good by the objective as the plan of each form, which is asked for by --copies, --stages and --mesh and judged by the
same compiler; and as that of the command --before, an older one. The exit code is 1 where it is not. Times of planning
are printed, never judged. What it shares with joint.py: --sizes, --limit, --run.
"""
import math
import os
import sys
import time

from joint import CONFIGS, arguments, bindings, models, run, value


def forms(n, objective):
    """options of each form of n devices"""
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    for copies in divisors if objective == "throughput" else [1]:
        for stages in divisors:
            if n % (copies * stages):
                continue
            each = n // copies // stages
            meshes = [f"{each}"] + [f"{a}x{each // a}" for a in range(2, each) if each % a == 0]
            for mesh in meshes if each > 1 else [None]:
                yield ["--copies", str(copies), "--stages", str(stages)] + (["--mesh", mesh] if mesh else ["--max-tp", "1"])


def bench(a, path, objective):
    """prints a row; False where some form, or the command before, has a better plan"""
    bind = bindings(a.cleave, path)
    name = os.path.basename(path).replace(".onnx", "")
    if bind is None:
        print(f"{name:36} {objective:10} not run: sizes of its symbols are not known")
        return True
    what = ["plan", path, "--no-output", "--json", "--cluster", a.cluster, "--devices", str(a.devices), "--objective",
            objective, "--configs", CONFIGS, *bind]
    got, wall, _ = run([a.cleave, *what, "--worth", "0", "--alternatives", "0"], a.run)
    full, full_wall, _ = run([a.cleave, *what], a.run)
    before = run([a.before, *what], a.run) if a.before else (None, math.nan, 0)
    own, best, best_form, tried = value(got, objective), math.inf, "", 0
    for form in forms(a.devices, objective):
        one, _, _ = run([a.cleave, *what, "--worth", "0", "--alternatives", "0", *form], a.run)
        tried += 1
        if value(one, objective) < best:
            best, best_form = value(one, objective), " ".join(form)
    old = value(before[0], objective) if a.before else math.inf
    never = own <= best * (1 + 1e-9) and own <= old * (1 + 1e-9)
    chosen = full["plan"].get("choice", {}).get("alternatives", [{}])[0].get("form", "-") if full and "plan" in full else "-"
    print(f"{name:36} {objective:10} {own:11.4f} {best:11.4f} {old:11.4f} {tried:3} {wall:6.2f} {full_wall:6.2f} "
          f"{before[1]:6.2f}  {chosen:14} {'yes' if never else 'NO: ' + best_form}", flush=True)
    return never


def main():
    ap = arguments(limit_s=3600)
    ap.add_argument("--before")
    a = ap.parse_args()
    start, ok, n = time.monotonic(), True, 0
    print(f"{'model':36} {'objective':10} {'ms':>11} {'best form':>11} {'before':>11} {'of':>3} {'s':>6} {'chosen':>6} "
          f"{'before':>6}  {'form':14} never worse")
    for path in models(a):
        for objective in a.objective.split(","):
            if time.monotonic() - start > a.limit:
                print("stopped at the limit")
                sys.exit(0 if ok else 1)
            ok &= bench(a, path, objective)
            n += 1
    print(f"{n} rows on {a.devices} devices of {a.cluster}: {'never worse' if ok else 'WORSE in some'}")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
