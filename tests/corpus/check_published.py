#!/usr/bin/env python3
"""Compares what the cost model counts with published figures.

    check_published.py COUNT MODELS [TABLE]

COUNT is the program of count.c, MODELS a folder of models, TABLE a file like published.csv beside
this script: parameters must be equal, FLOPs of matrix products within 1 %. Models of the table that
the folder lacks are skipped, and named.

Columns of the table: gflop_per_unit as published; counts: what the publication counts, all matrix
products or those with weights only; not_in_file: GFLOP of published parts that the file lacks.
"""
import csv
import os
import subprocess
import sys

TOLERANCE = 0.01


def count(program, path, bindings):
    args = [program, path]
    for binding in bindings:
        args += ["--bind", binding]
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    return dict(f.split("=") for f in done.stdout.splitlines()[0].split()), done.stdout


def check(program, folder, row):
    path = os.path.join(folder, row["file"])
    if not os.path.exists(path):
        return None, "not in the folder"
    got, text = count(program, path, row["bindings"].split())
    if got is None:
        return False, text
    counted = int(got["weighted_matmul_flops" if row["counts"] == "weights" else "matmul_flops"])
    counted = counted / 1e9 / int(row["units"]) + float(row["not_in_file"])
    ratio = counted / float(row["gflop_per_unit"])
    same = int(got["params"]) == int(row["params"])
    words = f"params {got['params']} ({'equal' if same else row['params']}), " \
            f"matmul {counted:.4f} GFLOP/{row['unit']} of {row['counts']} " \
            f"({(ratio - 1) * 100:+.2f} %), unsized {got['unsized']}, units {got['units']}"
    return same and abs(ratio - 1) <= TOLERANCE, words


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published.csv")
    with open(sys.argv[3] if len(sys.argv) > 3 else default, newline="") as table:
        rows = list(csv.DictReader(table))
    bad = checked = 0
    for row in rows:
        good, words = check(sys.argv[1], sys.argv[2], row)
        print(f"{'skip' if good is None else 'ok  ' if good else 'BAD '} {row['file']}: {words}")
        bad += good is False
        checked += good is not None
    print(f"{checked} checked, {bad} bad")
    sys.exit(1 if bad or not checked else 0)


if __name__ == "__main__":
    main()
