#!/usr/bin/env python3
"""covers.py - every line of docs/checklist.md is named by a test.

Usage: covers.py ROOT. Prints the ids that no test names, and ids in tests that the list does not have;
exit 1 if a listed id has no test.
"""
import os
import re
import sys

ID = re.compile(r"\b[A-E]\.\d{3}\b")


def ids_in_tests(root):
    found = {}
    for folder, _, names in os.walk(os.path.join(root, "tests")):
        for name in names:
            if name.endswith((".c", ".h", ".py")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as f:
                    for comment in re.findall(r"covers:((?:\s|\*|#|[A-E]\.\d{3}|,)+)", f.read()):
                        for one in ID.findall(comment):
                            found.setdefault(one, set()).add(os.path.relpath(path, root))
    return found


def main():
    root = sys.argv[1]
    with open(os.path.join(root, "docs", "checklist.md"), encoding="utf-8") as f:
        wanted = re.findall(r"^- ([A-E]\.\d{3}) ", f.read(), re.M)
    found = ids_in_tests(root)
    missing = [i for i in wanted if i not in found]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} lines of docs/checklist.md are named by a test")
    for i in missing:
        print(f"no test covers {i}")
    return 1 if missing or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
