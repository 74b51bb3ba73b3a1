#!/usr/bin/env python3
"""Published times of whole models beside what cleave plan predicts.

    check_times.py CLEAVE MODELS [--page FILE] [--write FILE]

MODELS is a folder of models; rows of published_times.csv whose model it lacks are skipped. Prints a row for each, and
how many predictions are between 0.67 and 1.5 of what was published. --page: the table of that page must have the
same predictions, to the digit, for models that are there; exit 1 where it has not. --write: writes the table anew.

The table has every published figure that was found for one run of a model that is at hand: those of grade A
are of the same graph and of device time; B of a graph that differs a little, or with some host time in it, and kept
only for devices other than A100, of which there are enough.
"""
import argparse
import csv
import os
import re
import subprocess
import sys

TIME = re.compile(r"^latency +([0-9.]+) (ns|us|ms|s) ", re.M)
MS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
LOW, HIGH = 0.67, 1.5


def digits(x, n=3):
    return f"{float(f'{x:.{n}g}'):g}"


def predict(cleave, path, row):
    """milliseconds of one run, or None"""
    args = [cleave, "plan", "--runtime", "engine", "--cluster", row["cluster"], "--no-output", path]
    args += ["--devices", row["tp"]]
    if row["tp"] != "1":
        args += ["--mesh", row["tp"], "--stages", "1"]
    for option in ("bind", "weights", "kv"):
        if row[option]:
            args += ["--" + option, row[option]]
    done = subprocess.run(args, capture_output=True, text=True)
    found = TIME.search(done.stdout)
    if not found:
        sys.exit(f"{row['file']}: {' '.join(args)}: {done.stderr.strip()}")
    return float(found.group(1)) * MS[found.group(2)]


def table_row(number, row, ms):
    published = float(row["published_ms"])
    stored = row["weights"] or "fp32"
    shape = row["bind"].replace("_length", "").replace("_size", "").replace(",", ", ") or "as it is"
    return (f"| {number} | {row['model']} | {row['device']}{' x ' + row['tp'] if row['tp'] != '1' else ''} | {stored} | {shape} | "
            f"{row['grade']} | {digits(published)} | {digits(ms)} | {ms / published:.2f} | {row['source']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cleave")
    parser.add_argument("models")
    parser.add_argument("--page")
    parser.add_argument("--write")
    args = parser.parse_args()
    with open(os.path.join(os.path.dirname(__file__), "published_times.csv")) as f:
        rows = list(csv.DictReader(f))
    found, within = {}, 0
    for number, row in enumerate(rows, 1):
        path = os.path.join(args.models, row["file"])
        if not os.path.exists(path):
            continue
        ms = predict(args.cleave, path, row)
        within += LOW <= ms / float(row["published_ms"]) <= HIGH
        found[number] = table_row(number, row, ms)
        print(found[number])
    print(f"{within} of {len(found)} predictions are between {LOW} and {HIGH} of what was published; {len(rows)} rows")
    if not found:
        sys.exit("no model of the table is there")
    if args.write:
        text = open(args.write).read()
        head = text[:text.index("| 1 |")]
        open(args.write, "w").write(head + "\n".join(found[n] for n in sorted(found)) + "\n")
    if args.page:
        lines = {line.split("|")[1].strip(): line for line in open(args.page).read().split("\n") if line.startswith("| ")}
        wrong = [n for n, line in found.items() if lines.get(str(n)) != line]
        for n in wrong:
            print(f"{args.page}: row {n} is\n  {lines.get(str(n))}\nexpected\n  {found[n]}")
        return 1 if wrong else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
