#!/usr/bin/env python3
"""compare_plans.py - is any plan worse than before, and how far is each from what is proven?

Usage: compare_plans.py BEFORE AFTER --models FOLDER [--devices N,...] [--cluster NAME|FILE] [--verbose]

BEFORE and AFTER are two builds of the command. Every model of FOLDER is planned by both for each number
of devices (0: as many as are best) and each objective; a plan that is worse by the objective is printed. The gaps are those that
AFTER tells. Exit code 1 where any is worse.
"""
import argparse
import json
import statistics
import sys
import time

from bench import plannable, run

OBJECTIVES = {"latency": "latency_ns", "throughput": "period_ns"}


def planned(cleave, path, objective, options):
    """(the objective in ns or None where nothing fits, gap or None, why it stopped, seconds)"""
    start = time.monotonic()
    code, out, *_ = run([cleave, "plan", path, "--no-output", "--json", "--objective", objective, *options])
    seconds = time.monotonic() - start
    if code not in (0, 3) or not out:
        return None, None, f"exit {code}", seconds
    p = json.loads(out)["plan"]
    s = p.get("search", {})
    return p.get(OBJECTIVES[objective]) if code == 0 else None, s.get("gap"), s.get("stopped"), seconds


def show_gaps(objective, gaps):
    gaps = sorted(gaps)
    if not gaps:
        return
    parts = ", ".join(f"{sum(g <= limit for g in gaps)} within {limit:.1%}" for limit in (0, 0.001, 0.01, 0.05))
    print(f"  {objective}: {len(gaps)} plans with a bound: {parts}; median {statistics.median(gaps):.3%}, "
          f"worst {gaps[-1]:.2%}")


def main():
    a = argparse.ArgumentParser()
    a.add_argument("before")
    a.add_argument("after")
    a.add_argument("--models", required=True)
    a.add_argument("--devices", default="4,8")
    a.add_argument("--cluster", default="dgx-h100")
    a.add_argument("--verbose", action="store_true")
    a = a.parse_args()
    a.cleave = a.after
    worse = better = same = 0
    gaps = {o: [] for o in OBJECTIVES}
    seconds = [0.0, 0.0]
    for name, path, bind in plannable(a):
        for n in a.devices.split(","):
            for objective in OBJECTIVES:
                options = ["--cluster", a.cluster, *(["--devices", n] if n != "0" else []), *bind]
                was, _, _, t0 = planned(a.before, path, objective, options)
                now, gap, stopped, t1 = planned(a.after, path, objective, options)
                seconds = [seconds[0] + t0, seconds[1] + t1]
                if gap is not None:
                    gaps[objective].append(gap)
                lost = was is not None and (now is None or now > was)
                won = now is not None and (was is None or now < was)
                worse, better, same = worse + lost, better + won, same + (not lost and not won)
                if lost or won or a.verbose:
                    change = f"{now / was - 1:+.3%}" if was and now else "-"
                    print(f"  {name} x{n} {objective}: {was} to {now} ns ({change}); gap "
                          f"{'-' if gap is None else f'{gap:.3%}'}, {stopped}, {t0:.2f} s to {t1:.2f} s"
                          + ("  WORSE" if lost else ""))
                    sys.stdout.flush()
    for objective in OBJECTIVES:
        show_gaps(objective, gaps[objective])
    print(f"  {better} better, {same} the same, {worse} worse; {seconds[0]:.1f} s to {seconds[1]:.1f} s in all")
    return worse > 0


if __name__ == "__main__":
    sys.exit(main())
