#!/usr/bin/env python3
"""references.py - each header of the solvers cites the literature of its algorithm.

Usage: references.py ROOT. A header cites where the comment at its head has an author's name and a year, or names the
header of which it is a part and which does: "Of lns.h." Exit 1 where one does neither.
"""
import os
import re
import sys

# What is shared by all solvers and is no algorithm: the contract, and programs as data.
NO_ALGORITHM = {"solver/common/solve.h", "solver/common/limits.h", "solver/common/objval.h", "solver/common/ilp/ilp.h",
                "solver/common/ilp/ilp_mps.h", "solver/common/ilp/glpk_fence.h"}
CITED = re.compile(r"[A-Z][a-z]+[^;]{0,100}?\b(?:18|19|20)\d\d\b", re.S)
PART_OF = re.compile(r"\b[a-z0-9_]+\.h\b")


def heads_of(root):
    heads = {}
    for base, _, files in os.walk(os.path.join(root, "solver")):
        for name in files:
            if name.endswith(".h"):
                full = os.path.join(base, name)
                with open(full, encoding="utf-8") as f:
                    heads[os.path.relpath(full, root)] = f.read().split("#ifndef")[0]
    return heads


def main(root):
    heads = heads_of(root)
    cites = {path for path, head in heads.items() if CITED.search(head)}
    n = 0
    while len(cites) > n:  # parts of parts
        n = len(cites)
        for path, head in heads.items():
            here, above = os.path.dirname(path), os.path.dirname(os.path.dirname(path))
            others = {os.path.join(folder, name) for name in PART_OF.findall(head) for folder in (here, above)}
            if others & cites - {path}:
                cites.add(path)
    bare = sorted(set(heads) - cites - NO_ALGORITHM)
    for path in bare:
        print(f"{path}: no author and year, and no header named of which it is a part")
    for path in sorted(NO_ALGORITHM - set(heads)):
        print(f"{path}: there is no such header")
    direct = sum(1 for head in heads.values() if CITED.search(head))
    print(f"{len(heads)} headers of solvers: {direct} cite, {len(cites) - direct} are parts of those, {len(bare)} do neither")
    return 1 if bare or NO_ALGORITHM - set(heads) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
