#!/usr/bin/env python3
"""layers.py - the structure of the source, checked; lines per folder and the longest functions, printed.

Usage: layers.py ROOT. Exit 1 where a rule is broken:

- a file includes only what the table MAY allows its folder; the table has no way back, over any number of folders;
- no files include each other in a circle, x.c and x.h taken as one; RECURSIVE names what is so by its nature;
- every x.c has an x.h beside it, but for programs' main.c; that of src/api/cleave_*.c is cleave.h;
- a function has at most MOST_PARAMETERS parameters (one more in cleave.h, where control, report and error are three
  of them), and an error is the last of them, but for those that make one: clv_fail(err, ...);
- no struct hides an error: a member `clv_error *`;
- third-party headers are included by their doors alone.
"""
import os
import re
import sys

# folder: the folders whose headers it may include, beside its own
B, G, C = "src/base", "src/graph", "src/cluster"
MODEL = [B, G, C, "src/sharding", "src/notation"]
COSTS = [*MODEL, "src/kernels", "src/problem", "cost"]
MAY = {
    "src/base": [],
    "src/graph": [B],
    "src/kernels": [B, G, C],
    "src/cluster": [B, G],
    "src/problem": [B],
    "src/sharding": [B, G, C],
    "src/notation": [B, G, C, "src/sharding"],
    "cost": [*MODEL, "src/kernels", "src/problem"],
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
    "src/request": [*COSTS, "solver/partition", "proto"],
    "src/stages": [*COSTS, "solver/common", "solver/partition", "src/plan", "src/compile", "src/rules", "src/explain",
                   "proto", "src/request"],
    "src/joint": [*COSTS, "solver/common", "solver/partition", "solver/intra_op", "src/plan", "src/compile", "src/rules",
                  "src/explain", "proto", "src/lower", "src/request", "src/stages"],
    "src/pipeline": [*COSTS, "src/plan", "src/explain", "src/lower", "proto", "src/request", "src/stages", "src/joint"],
    "src/api": [*COSTS, "solver/common", "solver/common/ilp", "solver/partition", "solver/placement",
                "solver/placement/common", "solver/placement/mip", "solver/intra_op", "src/plan", "src/compile", "src/rules",
                "src/explain", "proto", "src/weights", "src/annotations", "src/lower", "src/verify", "src/calibrate",
                "src/request", "src/pipeline", "src/include"],
    "src/include": [],
    "src/cli": [B, "src/include"],
    "run": [B, "src/cli", "src/plan", "proto"],
}
# third party: the only files that may include it
DOORS = {
    "cjson/": ["src/base/json"],
    "glpk.h": ["solver/common/ilp/glpk_fence", "solver/common/ilp/ilp_glpk"],
    "Cbc_C_Interface.h": ["solver/common/ilp/ilp_cbc"],
    "protobuf-c/": ["proto/"],
    "onnx.pb-c.h": ["proto/"],
    "xxhash.h": ["src/base/checksum"],
    "uv.h": ["src/compile/", "src/base/parallel_for"],
    "jemalloc": [],
    "onnxruntime_c_api.h": ["run/"],
}
# files that may include each other: an attribute of a node holds graphs, and graphs hold nodes
RECURSIVE = [{"proto/read_attr", "proto/read_graph"}]
MOST_PARAMETERS = 6
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def header_of(root, name, including):
    """path of what an #include means, from ROOT; None: not ours"""
    for base in ("src", "src/include", "", os.path.dirname(including)):
        path = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def bare(text):
    """the text without comments and strings, with as many lines"""
    return COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions(lines):
    """(line, lines of the body, head) of each function: its brace stands at column 0"""
    start = None
    for i, line in enumerate(lines):
        if line.startswith("{"):
            start = i
        elif line.rstrip() == "}" and start is not None:
            head = start
            while head > 0 and lines[head - 1].strip() and lines[head - 1][0] not in "}#":
                head -= 1
            yield head + 1, i - start - 1, " ".join(lines[head:start]).rsplit(";", 1)[-1].strip()
            start = None
        elif re.match(r"\w.*\)\s*\{.*\}\s*$", line): # on one line
            yield i + 1, 1, line[:line.index("{")]


def parameters(head):
    """of a function, as texts"""
    open_at = head.find("(")
    found, depth, word = [], 0, ""
    for c in head[open_at + 1:head.rfind(")")]:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            found.append(word.strip())
            word = ""
        else:
            word += c
    return [p for p in [*found, word.strip()] if p and p != "void"]


def check_functions(path, code):
    """faults, and (lines, place) of each function"""
    faults, sizes = [], []
    for at, size, head in functions(code.split("\n")):
        if path.endswith(".c"):
            sizes.append((size, f"{path}:{at}"))
        if "(" not in head or head.lstrip().startswith(("typedef", "struct", "enum", "union", "static const")):
            continue
        given = parameters(head)
        most = MOST_PARAMETERS + bool(re.match(r"(CLEAVE_API )?cleave_", head))
        if len(given) > most:
            faults.append(f"{path}:{at}: {len(given)} parameters, at most {most} are expected: a struct")
        errors = [i for i, p in enumerate(given) if re.match(r"clv_error\s*\*\s*\w*$", p)]
        if errors and errors[-1] != len(given) - 1 and given[-1] != "..." and not re.search(r"\bclv_fail\w*\(", head):
            faults.append(f"{path}:{at}: the error is expected last")
    for m in re.finditer(r"\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*\w*\s*;", code):
        for member in m.group(1).split(";"):
            if re.search(r"\bclv_error\s*\*", member) and "(" not in member and "=" not in m.group(1):
                line = code[:m.start()].count("\n") + 1
                faults.append(f"{path}:{line}: a struct hides an error: {member.strip()}")
    return faults, sizes


def circles(edges):
    """strongly connected parts of more than one, by Tarjan's algorithm"""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = set()
            while v not in part:
                part.add(stack.pop())
            on.difference_update(part)
            if len(part) > 1:
                found.append(part)

    sys.setrecursionlimit(10000)
    for v in sorted(edges):
        if v not in index:
            visit(v)
    return found


def check_table():
    return [f"the table of folders leads back: {', '.join(sorted(part))}" for part in circles({f: set(m) for f, m in MAY.items()})]


def check_file(root, path, edges):
    """faults of one file, its lines and its functions' sizes; its includes go to edges"""
    folder = os.path.dirname(path)
    with open(os.path.join(root, path), encoding="utf-8") as f:
        text = f.read()
    faults, sizes = check_functions(path, bare(text))
    module = path.rsplit(".", 1)[0]
    edges.setdefault(module, set())
    for n, line in enumerate(text.split("\n"), 1):
        m = INCLUDE.match(line)
        if not m:
            continue
        to = header_of(root, m.group(1), path)
        if to is not None and to.rsplit(".", 1)[0] != module:
            edges[module].add(to.rsplit(".", 1)[0])
        if to is not None and os.path.dirname(to) != folder and os.path.dirname(to) not in MAY[folder]:
            faults.append(f"{path}:{n}: {folder} may not include {m.group(1)} ({os.path.dirname(to)})")
        for door, users in DOORS.items():
            if to is None and door in m.group(1) and not any(path.startswith(u) for u in users):
                faults.append(f"{path}:{n}: {m.group(1)} has one door, and this is not it")
    header = "src/include/cleave" if module.startswith("src/api/cleave_") else module
    if path.endswith(".c") and os.path.basename(path) != "main.c" and not os.path.exists(os.path.join(root, header + ".h")):
        faults.append(f"{path}: has no header of its own")
    return faults, text.count("\n"), sizes


def main():
    root = sys.argv[1]
    faults, counts, sizes, edges = check_table(), {}, [], {}
    for folder in MAY:
        for name in sorted(os.listdir(os.path.join(root, folder))):
            if not name.endswith((".c", ".h", ".def")):
                continue
            wrong, lines, found = check_file(root, os.path.join(folder, name), edges)
            faults += wrong
            sizes += found
            counts[folder] = counts.get(folder, 0) + lines
    for part in circles(edges):
        if part not in RECURSIVE:
            faults.append(f"files include each other in a circle: {', '.join(sorted(part))}")
    for folder, n in counts.items():
        print(f"{n:7d} lines  {folder}")
    print(f"{sum(counts.values()):7d} lines  in all")
    sizes.sort()
    pick = lambda q: sizes[min(len(sizes) - 1, int(q * len(sizes)))][0]
    print(f"{len(sizes)} functions: median {pick(.5)}, p90 {pick(.9)}, p99 {pick(.99)} lines")
    for length, at in reversed(sizes[-10:]):
        print(f"{length:7d} lines  {at}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
