#!/usr/bin/env python3
"""ilp_windows.py - what windows of several groups bring (docs/search/integer-programs.md): two builds compared.

Usage: ilp_windows.py BEFORE AFTER [--models FOLDER] [--devices N,...] [--clusters NAME,...] [--objective O,...]
                      [--random N] [--only WORD,...] [--scratch FOLDER] [--verbose]

BEFORE and AFTER are two builds of the command, one without what is measured. Both plan whole operators in one copy
(--max-tp 1 --copies 1): every model of the folder on every cluster with so many of its devices, and N random graphs of
40 to 400 operators, where branches part and meet again. Printed is for how many plans AFTER is better by the objective,
by how much, and how many were proven by BEFORE; then the user and system time of both. Exit code 1 where any is worse.
"""
import argparse
import os
import random
import statistics
import sys
import json

from bench import run
from joint import CONFIGS, bindings
from model_builder import Builder, FLOAT, HALF
from onnx import helper

WIDTHS = (64, 128, 256, 384, 512, 768, 1024, 1536, 2048)
RANDOM_CLUSTERS = ("dgx-h100", "l40s-pcie-8", "h100-l40s", "ipu-pod4")


def make_random(path, seed):
    """operators that read one to three of the last tensors; how far back they reach differs from graph to graph"""
    draw, b = random.Random(seed), Builder()
    rows, reach = draw.choice((64, 256, 1024)), draw.randint(2, 16)
    tensors, unused, n = [("x", 1024)], {}, draw.randint(40, 400)
    while len(b.nodes) < n:
        near = tensors[-reach:]
        read = draw.sample(near, min(len(near), draw.choice((1, 1, 1, 2, 2, 3))))
        for name, _ in read:
            unused.pop(name, None)
        width, i = sum(w for _, w in read), len(tensors)
        x = read[0][0] if len(read) == 1 else b.op("Concat", [name for name, _ in read], f"join{i}", axis=1)
        if draw.random() < 0.3:
            x = b.op("Relu", [x], f"relu{i}")
        else:
            to = draw.choice(WIDTHS)
            x, width = b.linear(x, f"product{i}", width, to), to
        tensors.append((x, width))
        unused[x] = width
    value = helper.make_tensor_value_info
    b.save(path, "random", [value("x", HALF, [rows, 1024])],
           [value(name, HALF, [rows, width]) for name, width in unused.items()])


def cases(a):
    """(name, path, cluster, devices, bindings)"""
    for file in sorted(os.listdir(a.models)) if a.models else []:
        path = os.path.join(a.models, file)
        bind = bindings(a.before, path) if file.endswith(".onnx") else None
        if bind is None or (a.only and not any(word in file for word in a.only.split(","))):
            continue
        for cluster in a.clusters.split(","):
            for n in a.devices.split(","):
                yield file, path, cluster, n, bind
    for seed in range(a.random):
        path = os.path.join(a.scratch, f"random{seed}.onnx")
        make_random(path, seed)
        draw = random.Random(-seed)
        cluster = draw.choice(RANDOM_CLUSTERS)
        yield os.path.basename(path), path, cluster, str(draw.randint(3, 8 if "8" in cluster or cluster == "dgx-h100" else 4)), []


def planned(cleave, objective, path, cluster, devices, bind):
    """(ns or None, is it proven?, CPU s)"""
    code, out, _, cpu, _ = run([cleave, "plan", path, "--no-output", "--json", "--max-tp", "1", "--copies", "1",
                                "--worth", "0", "--alternatives", "0", "--objective", objective, "--cluster", cluster,
                                "--devices", devices, "--configs", CONFIGS, *bind])
    if code != 0:
        return None, False, cpu
    p = json.loads(out)["plan"]
    ns = p["latency_ns"] if objective == "latency" else p["period_ns"]
    return ns, (p.get("search", {}).get("bound_ns") or 0) >= ns, cpu


def summary(title, gains, proven, cpu):
    better, worse = [g for g in gains if g > 0], [g for g in gains if g < 0]
    print(f"{title}: {proven} proven before, {len(gains)} open, of which {len(better)} better, {len(worse)} worse")
    if better:
        print(f"  better by {min(better):.3f} to {max(better):.3f} %, {statistics.mean(better):.3f} % in the mean")
    if worse:
        print(f"  worse by {-max(worse):.3f} to {-min(worse):.3f} %")
    print(f"  CPU {cpu[0]:.1f} s before, {cpu[1]:.1f} s after: {100 * (cpu[1] / max(cpu[0], 1e-9) - 1):+.1f} %", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("before")
    ap.add_argument("after")
    ap.add_argument("--models")
    ap.add_argument("--devices", default="3,4,8")
    ap.add_argument("--clusters", default="dgx-h100,l40s-pcie-8")
    ap.add_argument("--objective", default="throughput")
    ap.add_argument("--random", type=int, default=0)
    ap.add_argument("--only")
    ap.add_argument("--scratch", default=".")
    ap.add_argument("--verbose", action="store_true")
    a = ap.parse_args()
    any_worse = False
    for objective in a.objective.split(","):
        gains, proven, cpu = {True: [], False: []}, {True: 0, False: 0}, {True: [0, 0], False: [0, 0]}
        for name, *case in cases(a):
            before, is_proven, cpu_before = planned(a.before, objective, *case)
            after, _, cpu_after = planned(a.after, objective, *case)
            made = name.startswith("random")
            cpu[made][0] += cpu_before
            cpu[made][1] += cpu_after
            if before is None and after is None:
                continue
            gain = 100 * (1 - (after or float("inf")) / before) if before else 100
            if is_proven and gain == 0:
                proven[made] += 1
                continue
            gains[made].append(gain)
            any_worse |= gain < 0
            if a.verbose or gain < 0:
                print(f"{name} {case[1]} {case[2]} {objective}: {before} -> {after} ns, {gain:+.3f} %, "
                      f"CPU {cpu_before:.2f} -> {cpu_after:.2f} s", flush=True)
        for made in (False, True):
            if gains[made] or proven[made]:
                summary(f"{objective}, {'random graphs' if made else 'models'}", gains[made], proven[made], cpu[made])
    sys.exit(any_worse)


if __name__ == "__main__":
    main()
