#!/usr/bin/env python3
"""compare_plans.py - is any plan worse than before, and how far is each from what is proven?

Usage: compare_plans.py BEFORE AFTER --models FOLDER [--devices N,...] [--cluster NAME|FILE] [--verbose]

BEFORE and AFTER are two builds of the command. Every model of FOLDER is planned by both for each number
of devices (0: as many as are best) and each objective; a plan that is worse by the objective is printed. The gaps are those that
AFTER reports. Where AFTER says that memory limits the micro-batches in flight, the time of one is compared, and BEFORE's plan is
judged by AFTER, with rules that place every operator. Exit code 1 where any is worse.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

from bench import plannable, run

OBJECTIVES = {"latency": "latency_ns", "throughput": "period_ns"}


def planned(cleave, path, objective, options):
    """(the plan or None where nothing fits, seconds)"""
    start = time.monotonic()
    code, out, *_ = run([cleave, "plan", path, "--no-output", "--json", "--objective", objective, *options])
    seconds = time.monotonic() - start
    return json.loads(out)["plan"] if code == 0 and out else None, seconds


def is_short_of_memory(plan):
    return plan.get("pipeline", {}).get("chosen") == "memory"


def value_of(plan, objective):
    """ns that one run takes by the objective, or None"""
    value = plan and plan.get(OBJECTIVES[objective])
    if plan and objective == "throughput" and is_short_of_memory(plan):
        value = plan["pipeline"]["run_ns"] / plan["pipeline"]["microbatches"]
    return value and (value if objective == "latency" else value / len(plan.get("copies", [0])))


def fields(data, at, end):
    """(number, value) of each field of a protobuf message; a value of bytes as (from, to)"""
    def varint():
        nonlocal at
        n = shift = 0
        while True:
            n |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return n
    while at < end:
        tag = varint()
        if tag & 7 == 2:
            size = varint()
            at += size
            yield tag >> 3, (at - size, at)
        elif tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            at += 8 if tag & 7 == 1 else 4


def first_outputs(path, n):
    """what each of n operators of the main graph writes first; Constants may be none of them"""
    with open(path, "rb") as f:
        data = f.read()
    graph = next(v for number, v in fields(data, 0, len(data)) if number == 7)
    nodes = []
    for node in (v for number, v in fields(data, *graph) if number == 1):
        texts = {k: data[slice(*v)].decode() for k, v in reversed(list(fields(data, *node))) if k in (2, 4)}
        nodes.append((texts[4], texts[2]))
    return [name for op_type, name in nodes if len(nodes) == n or op_type != "Constant"]


def judged_again(cleave, plan, path, objective, options):
    """a plan of another build as this one judges it, or None"""
    device_of = [d for d, n in plan["operators"]["device_runs"] for _ in range(n)]
    names = first_outputs(path, len(device_of))
    if len(names) != len(device_of):
        return None
    places = {}
    for name, device in zip(names, device_of):
        places.setdefault(device, []).append({"tensor": name})
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules.json")
        with open(rules, "w") as f:
            json.dump({"rules": [{"place": nodes, "on": d} for d, nodes in places.items()]}, f)
        return planned(cleave, path, objective, [*options, "--constraints", rules])[0]


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
                old, t0 = planned(a.before, path, objective, options)
                new, t1 = planned(a.after, path, objective, options)
                seconds = [seconds[0] + t0, seconds[1] + t1]
                if old and new and objective == "throughput" and is_short_of_memory(new):
                    old = judged_again(a.after, old, path, objective, options)
                was, now = value_of(old, objective), value_of(new, objective)
                search = (new or {}).get("search", {})
                gap, stopped = search.get("gap"), search.get("stopped")
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
