#!/usr/bin/env python3
"""layers.py - who may include whom, checked; lines per folder and the longest functions, printed.

Usage: layers.py ROOT. Exit 1 when an include breaks the table of docs/ARCHITECTURE.md.
"""
import os
import re
import sys

# folder: the folders whose headers it may include, beside its own
MAY = {
    "src/base": [],
    "src/graph": ["src/base"],
    "src/cluster": ["src/base", "src/graph"],
    "src/problem": ["src/base"],
    "src/sharding": ["src/base", "src/graph", "src/cluster"],
    "cost": ["src/base", "src/graph", "src/cluster", "src/sharding", "src/problem"],
    "src/spmd": ["src/base", "src/graph", "src/cluster", "src/sharding", "src/problem", "cost"],
    "solver": ["src/base", "src/problem", "solver/placements"],
    "solver/plans": ["src/base", "src/problem", "solver"],
    "solver/placements": ["src/base", "src/problem", "solver"],
    "solver/strategies": ["src/base", "src/problem", "solver"],
    "src/plan": ["src/base", "src/graph", "src/sharding", "src/problem"],
    "src/compile": ["src/base", "src/graph", "src/cluster", "src/sharding", "src/problem",
                    "cost"],
    "src/report": ["src/base", "src/graph", "src/sharding", "src/plan", "cost", "src/problem"],
    "proto": ["src/base", "src/graph", "src/plan"],
    "src/weights": ["src/base", "src/graph", "src/cluster", "src/sharding", "src/plan", "proto"],
    "src/shards": ["src/base", "src/graph", "src/cluster", "src/sharding", "cost", "src/plan",
                   "src/report", "proto"],
    "src/lower": ["src/base", "src/graph", "src/cluster", "src/sharding", "cost", "src/plan",
                  "proto", "src/weights"],
    "src/verify": ["src/base", "src/graph", "src/sharding", "src/plan", "src/compile", "src/report",
                   "src/lower", "src/problem", "cost", "proto"],
    "src/calibrate": ["src/base", "src/graph", "src/cluster", "cost", "src/compile", "proto"],
    "src/cli": ["src/base", "src/include"],
    "run": ["src/base", "src/cli", "src/plan", "proto"],
    "src/joint": ["src", "src/base", "src/graph", "src/cluster", "src/sharding", "src/problem", "cost", "solver",
            "solver/plans", "solver/placements", "solver/strategies", "src/spmd", "src/plan", "src/compile", "src/report", "proto", "src/include"],
    "src": ["src/calibrate", "src/joint", "src/verify", "src/shards", "src/weights", "src/lower", "src/base", "src/graph", "src/cluster", "src/sharding", "src/problem", "cost", "solver",
            "solver/plans", "solver/placements", "solver/strategies", "src/spmd", "src/plan", "src/compile", "src/report", "proto", "src/include"],
}
# third party: the only files that may include it
DOORS = {
    "cjson/": ["src/base/json"],
    "glpk.h": ["solver/glpk_fence", "solver/ilp_glpk"],
    "Cbc_C_Interface.h": ["solver/ilp_cbc"],
    "protobuf-c/": ["proto/"],
    "onnx.pb-c.h": ["proto/"],
    "xxhash.h": ["src/base/checksum"],
    "uv.h": ["src/compile/", "src/base/crew"],
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
                    if door in m.group(1) and not any(path.startswith(u) for u in users):
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
