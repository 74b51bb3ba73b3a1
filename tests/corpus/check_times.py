#!/usr/bin/env python3
"""Published times of whole models beside what cleave plan predicts.

    check_times.py CLEAVE MODELS [--page FILE] [--write FILE]

MODELS is a folder of models; those named *.made.onnx are made (made_models.py), and rows of published_times.csv whose
model is neither there nor made are skipped. Prints a row for each, and for each grade how many predictions are between
0.67 and 1.5 of what was published. A row outside of that has to have its reason in the column of that name, one inside
none. --page: the table of that page must have the same predictions, to the digit, for models that are there; exit 1 where
it has not. --write: writes the table and the counts above it anew.

The table has every published figure that was found for one run of a model that is at hand. Grade A is of the same graph
and of device time; B of a graph that differs a little, or with some host time in it; C of a framework whose host starts
operators one by one, which is not what the runtime engine describes.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

import made_models

LOW, HIGH = 0.67, 1.5
COUNTS = ("domain", "device", "grade")


def digits(x, n=3):
    return f"{float(f'{x:.{n}g}'):g}"


def predict(cleave, path, row):
    """milliseconds of one run"""
    args = [cleave, "plan", "--json", "--runtime", row["runtime"], "--cluster", row["cluster"], "--no-output", path]
    args += ["--devices", row["tp"]]
    if row["tp"] != "1":
        args += ["--mesh", row["tp"], "--stages", "1"]
    for option in ("bind", "weights", "kv"):
        if row[option]:
            args += ["--" + option, row[option]]
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{row['file']}: {' '.join(args)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["plan"]["latency_ns"] / 1e6


def table_row(number, row, ms):
    published = float(row["published_ms"])
    stored = row["weights"] or "fp32"
    shape = row["bind"].replace("_length", "").replace("_size", "").replace(",", ", ")
    if not shape:
        shape = row["input"] if row["batch"] == "1" else f"batch={row['batch']}, {row['input']}"
    device = row["device"] + (f" x {row['tp']}" if row["tp"] != "1" else "")
    return (f"| {number} | {row['model']} | {device} | {stored} | {shape} | {row['runtime']} | {row['grade']} | "
            f"{digits(published)} | {digits(ms)} | {ms / published:.2f} | {row['source']} |")


def within(row, ms):
    return LOW <= ms / float(row["published_ms"]) <= HIGH


def family(row, column):
    """devices count by their kind, whatever memory and form are written"""
    return row["device"].split()[0] if column == "device" else row[column]


def counts(rows, times):
    """lines of a table: rows and those within, by domain, device and grade"""
    lines = []
    for column in COUNTS:
        for value in dict.fromkeys(family(r, column) for r in rows):
            these = [n for n, r in enumerate(rows, 1) if family(r, column) == value and n in times]
            good = sum(within(rows[n - 1], times[n]) for n in these)
            lines.append(f"| {column} | {value} | {len(these)} | {good} |")
    return lines


def reasons(rows, times):
    """lines: why rows are outside, those with one reason together"""
    found = {}
    for n in sorted(times):
        if not within(rows[n - 1], times[n]):
            found.setdefault(rows[n - 1]["reason"], []).append(n)
    return [f"- {', '.join(map(str, numbers))}: {reason}" for reason, numbers in found.items()]


def predict_all(args, rows, scratch):
    """milliseconds by row number, of models that are there or can be made"""
    times, made = {}, {}
    for number, row in enumerate(rows, 1):
        path, name = os.path.join(args.models, row["file"]), row["file"]
        if not os.path.exists(path):
            if name not in made:
                made[name] = made_models.make(scratch, name)
            path = made[name]
        if path:
            times[number] = predict(args.cleave, path, row)
    return times


def write(path, found, rows, times):
    text = open(path).read()
    head = text[:text.index("| by |")]
    parts = ["| by | | rows | within |\n|---|---|---:|---:|", *counts(rows, times), "\nOutside, and why:\n",
             *reasons(rows, times), ""]
    table = text[text.index("| # |"):text.index("| 1 |")]
    open(path, "w").write(head + "\n".join(parts) + "\n" + table + "\n".join(found[n] for n in sorted(found)) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cleave")
    parser.add_argument("models")
    parser.add_argument("--page")
    parser.add_argument("--write")
    args = parser.parse_args()
    with open(os.path.join(os.path.dirname(__file__), "published_times.csv")) as f:
        rows = list(csv.DictReader(f))
    with tempfile.TemporaryDirectory() as scratch:
        times = predict_all(args, rows, scratch)
    if not times:
        sys.exit("no model of the table is there")
    found = {n: table_row(n, rows[n - 1], ms) for n, ms in times.items()}
    print("\n".join(found[n] for n in sorted(found)))
    print("\n".join(counts(rows, times)))
    print(f"{sum(within(rows[n - 1], ms) for n, ms in times.items())} of {len(found)} predictions are between {LOW} and {HIGH} of "
          f"what was published; {len(rows)} rows")
    wrong = [f"row {n} is {'within and has a' if within(rows[n - 1], ms) else 'outside and has no'} reason"
             for n, ms in times.items() if within(rows[n - 1], ms) == bool(rows[n - 1]["reason"])]
    if args.write:
        write(args.write, found, rows, times)
    if args.page:
        lines = {line.split("|")[1].strip(): line for line in open(args.page).read().split("\n") if line.startswith("| ")}
        wrong += [f"{args.page}: row {n} is\n  {lines.get(str(n))}\nexpected\n  {line}" for n, line in found.items()
                  if lines.get(str(n)) != line]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
