#!/usr/bin/env python3
"""layers.py - who may include whom, checked; lines per folder and the longest functions, printed.

Usage: layers.py ROOT. Exit 1 when an include breaks the table of docs/ARCHITECTURE.md.
"""
import os
import re
import sys

# folder: the folders whose headers it may include, beside its own
B, G, C = "src/base", "src/graph", "src/cluster"
MODEL = [B, G, C, "src/sharding", "src/notation"]
COSTS = [*MODEL, "src/problem", "cost"]
SOLVERS = ["solver/common", "solver/partition", "solver/placement", "solver/placement/common", "solver/placement/mip",
           "solver/intra_op"]
MAY = {
    "src/base": [],
    "src/graph": [B],
    "src/cluster": [B, G],
    "src/problem": [B],
    "src/sharding": [B, G, C],
    "src/notation": [B, G, C, "src/sharding"],
    "cost": [*MODEL, "src/problem"],
    "solver/common": [B],
    "solver/common/ilp": [B],
    "solver/partition": [B, "src/problem", "solver/common", "solver/common/ilp"],
    "solver/placement/common": [B, "src/problem", "solver/common"],
    "solver/placement/noncontiguous": [B, "src/problem", "solver/common", "solver/placement/common"],
    "solver/placement/contiguous": [B, "src/problem", "solver/common", "solver/placement/common",
                                    "solver/placement/noncontiguous"],
    "solver/placement/latency": [B, "src/problem", "solver/common", "solver/placement/common"],
    "solver/placement/mip": [B, "src/problem", "solver/common/ilp", "solver/placement/common"],
    "solver/placement": [B, "src/problem", "solver/placement/common", "solver/placement/contiguous",
                         "solver/placement/noncontiguous", "solver/placement/latency", "solver/placement/mip"],
    "solver/intra_op": [B, "src/problem", "solver/common"],
    "src/plan": [*MODEL, "src/problem"],
    "src/compile": COSTS,
    "src/rules": [*COSTS, "solver/partition", "src/plan"],
    "src/explain": [*COSTS, "solver/partition", "src/plan", "src/compile"],
    "proto": [B, G, "src/notation", "src/plan"],
    "src/weights": [*MODEL, "src/plan", "proto"],
    "src/annotations": [*COSTS, "src/plan", "src/explain", "proto"],
    "src/lower": [*COSTS, "src/plan", "proto", "src/weights"],
    "src/verify": [*COSTS, "src/plan", "src/compile", "src/explain", "src/lower", "proto"],
    "src/calibrate": [B, G, C, "cost", "src/compile", "proto"],
    "src/cli": [B, "src/include"],
    "run": [B, "src/cli", "src/plan", "proto"],
    "src/request": [*COSTS, "solver/partition", "proto"],
    "src/stages": [*COSTS, "solver/common", "solver/partition", "src/plan", "src/compile", "src/rules", "src/explain", "proto",
                   "src/request"],
    "src/joint": [*COSTS, "solver/common", "solver/partition", "solver/intra_op", "src/plan", "src/rules", "src/explain", "proto",
                  "src/lower", "src/request", "src/stages"],
    "src/pipeline": [*COSTS, "src/plan", "proto", "src/request", "src/stages", "src/joint"],
    "src/api": [*COSTS, *SOLVERS, "src/plan", "src/compile", "src/rules", "src/explain", "proto", "src/weights",
                "src/annotations", "src/lower", "src/verify", "src/calibrate", "src/request", "src/pipeline",
                "src/include"],
}
# third party: the only files that may include it
DOORS = {
    "cjson/": ["src/base/json"],
    "/glpk.h": ["solver/common/ilp/glpk_fence", "solver/common/ilp/ilp_glpk"],
    "Cbc_C_Interface.h": ["solver/common/ilp/ilp_cbc"],
    "protobuf-c/": ["proto/"],
    "onnx.pb-c.h": ["proto/"],
    "xxhash.h": ["src/base/checksum"],
    "uv.h": ["src/compile/", "src/base/parallel_for"],
    "jemalloc": [],
    "onnxruntime_c_api.h": ["run/"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def folder_of_header(root, name, including):
    for base in ("src", "src/include", "", os.path.dirname(including)):
        path = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, path)):
            return os.path.dirname(path) or "."
    return None


def functions(lines):
    """(length, first line) of each function: from a line at column 0 before '{' to '}' there."""
    start = None
    for i, line in enumerate(lines):
        if line.startswith("{"):
            start = i
        elif line.startswith("}") and start is not None and line.rstrip() == "}":
            head = start
            while head > 0 and lines[head - 1].strip() and lines[head - 1][0] not in "}#/":
                head -= 1
            yield i - start - 1, head + 1
            start = None


def main():
    root = sys.argv[1]
    faults, counts, long_ones, lengths = [], {}, [], []
    for folder, may in MAY.items():
        for name in sorted(os.listdir(os.path.join(root, folder))):
            if not name.endswith((".c", ".h", ".def")):
                continue
            path = os.path.join(folder, name)
            with open(os.path.join(root, path), encoding="utf-8") as f:
                lines = f.readlines()
            counts[folder] = counts.get(folder, 0) + len(lines)
            for n, line in enumerate(lines, 1):
                m = INCLUDE.match(line)
                if not m:
                    continue
                to = folder_of_header(root, m.group(1), path)
                if to is not None and to != folder and to not in may:
                    faults.append(f"{path}:{n}: {folder} may not include {m.group(1)} ({to})")
                for door, users in DOORS.items():
                    if door in "/" + m.group(1) and not any(path.startswith(u) for u in users):
                        faults.append(f"{path}:{n}: {m.group(1)} has one door, and this is not it")
            if name.endswith(".c"):
                for length, at in functions(lines):
                    lengths.append(length)
                    long_ones.append((length, f"{path}:{at}"))
    for folder, n in counts.items():
        print(f"{n:7d} lines  {folder}")
    lengths.sort()
    if lengths:
        pick = lambda q: lengths[min(len(lengths) - 1, int(q * len(lengths)))]
        print(f"{len(lengths)} functions: median {pick(.5)}, p90 {pick(.9)}, p99 {pick(.99)} lines")
    for length, at in sorted(long_ones, reverse=True)[:10]:
        print(f"{length:7d} lines  {at}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
