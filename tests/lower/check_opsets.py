#!/usr/bin/env python3
"""check_opsets.py - the changes of operators that src/lower/opset.c lists are those of ONNX's schemas.

Usage: check_opsets.py ROOT. Exit 1 if any is missing, or is none.
"""
import os
import re
import sys

from onnx import defs

PLAIN = 9


def main():
    with open(os.path.join(sys.argv[1], "src/lower/opset.c"), encoding="utf-8") as f:
        listed = {name: sorted(int(v) for v in versions.split(","))
                  for name, versions in re.findall(r'\{ "(\w+)", \{ ([\d, ]+) \} \}', f.read())}
    history = {}
    for s in defs.get_all_schemas_with_history():
        if s.domain == "":
            history.setdefault(s.name, set()).add(s.since_version)
    real = {name: sorted(v for v in since if min(since) < v <= PLAIN)
            for name, since in history.items()}
    real = {name: v for name, v in real.items() if v}
    for name in sorted(set(listed) | set(real)):
        if listed.get(name) != real.get(name):
            print(f"{name}: listed {listed.get(name)}, ONNX says {real.get(name)}")
    print(f"{len(real)} operators changed up to version {PLAIN}")
    return listed != real


if __name__ == "__main__":
    sys.exit(main())
