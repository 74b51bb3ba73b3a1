#!/usr/bin/env python3
"""solve.py - `cleave solve` on every strategy problem of a folder, beside the figures known of it.

Usage: solve.py CLEAVE FOLDER [--scratch FOLDER] [--deadline S] [--jobs N] [--seed N] [--only TEXT] [--json FILE]

Problems are *.json and *.json.gz, which are unpacked into the scratch folder; where there is a FOLDER/instances,
only what is in it. FOLDER/REFERENCE.csv, if it is there, has a row an instance: its time limit, the best answers
known of it and a published bound. Every answer is judged again by solve_judge.py; the exit status is 1 when one
is not what it says, never for time.
"""
import argparse
import csv
import glob
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

import place

LIMIT_S = 60  # where nobody gives another
JUDGE_BYTES_MAX = 400e6  # a tree of a larger file in Python takes more memory than a small machine has
FOUND, INFEASIBLE = 0, 3  # exit statuses


def problems(folder):
    """(name, path)"""
    inner = os.path.join(folder, "instances")
    folder = inner if os.path.isdir(inner) else folder
    for path in sorted(glob.glob(os.path.join(folder, "*.json")) + glob.glob(os.path.join(folder, "*.json.gz"))):
        yield os.path.basename(path).split(".json")[0], path


def references(folder):
    path = os.path.join(folder, "REFERENCE.csv")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8", newline="") as f:
        return {row["instance"]: row for row in csv.DictReader(f)}


def reference_of(known, name):
    """its row: the instance is the name, or the end of it behind a dash"""
    return known.get(name) or known.get(name.rsplit("-", 1)[-1]) or {}


def unpacked(path, scratch):
    if not path.endswith(".gz"):
        return path
    os.makedirs(scratch, exist_ok=True)
    plain = os.path.join(scratch, os.path.basename(path)[:-len(".gz")])
    if not os.path.exists(plain) or os.path.getmtime(plain) < os.path.getmtime(path):
        with gzip.open(path) as source, open(plain + ".part", "wb") as f:
            shutil.copyfileobj(source, f)
        os.replace(plain + ".part", plain)
    return plain


def judge(path, answer):
    """what is wrong with it; in a process of its own, because what this one holds counts as the peak of
    those that it starts"""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        f.write(answer)
        f.flush()
        argv = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "solve_judge.py"), path, f.name]
        r = subprocess.run(argv, capture_output=True, text=True, check=False)
    return (r.stdout + r.stderr).splitlines() or (["it cannot be judged"] if r.returncode else [])


def measure(a, path, limit):
    """a row of the table, as a dictionary"""
    argv = [a.cleave, "solve", path, "--json", "--deadline", str(limit), "--jobs", str(a.jobs), "--seed", str(a.seed)]
    code, out, err, seconds, peak = place.run(argv, limit + place.GRACE_S)
    row = {"seconds": seconds, "peak_bytes": peak, "faults": []}
    if code not in (FOUND, INFEASIBLE):
        row["faults"] = [f"exit status {code}: {err.strip()[:300]}"]
        return row
    try:
        answer = json.loads(out)
        row.update({k: answer[k] for k in ("status", "gap", "nevers", "found_by", "bound_by", "reason", "nodes")})
        row.update({k: None if answer[k] is None else int(answer[k]) for k in ("cost", "bound", "peak", "usage_limit")})
        row["read_s"] = max(0, seconds - answer["seconds"])
        if code == INFEASIBLE:
            row["faults"] = [] if answer["cost"] is None else [f"exit status {code} with a cost"]
        elif os.path.getsize(path) <= JUDGE_BYTES_MAX:
            row["faults"] = judge(path, out)
        else:
            row["unjudged"] = True
    except (ValueError, KeyError, TypeError) as e:
        row["faults"] = [f"what it printed cannot be read: {type(e).__name__} {e}"]
    return row


def text(value, form="{}"):
    return "-" if value is None else form.format(value)


def against(value, reference, nevers=0):
    """how much more, as a part: "+0.12%", "="; with nevers in it no cost compares"""
    reference = int(reference) if reference else None
    if value is None or not reference:
        return "-"
    if nevers:
        return "never"
    return "=" if value == reference else f"{100 * (value - reference) / reference:+.4f}%"


def show(name, row, known, limit):
    cost, bound, gap, nevers = row.get("cost"), row.get("bound"), row.get("gap"), row.get("nevers", 0)
    print(f"{name:26.26} {text(cost):>20} {against(cost, known.get('contest_best'), nevers):>11} "
          f"{against(cost, known.get('winner_8_cores_median_of_10'), nevers):>11} "
          f"{against(cost, known.get('best_known'), nevers):>11} "
          f"{text(bound):>20} {against(bound, known.get('lower_bound')):>11} "
          f"{text(None if gap is None else 100 * gap, '{:.4f}%'):>10} {row.get('status', '-'):10} "
          f"{text(row.get('read_s'), '{:.2f}'):>6} {row['seconds']:8.2f} {limit:6g} {row['peak_bytes'] / 1e6:6.0f}  "
          f"{row.get('found_by') or '-'}, {row.get('bound_by') or '-'}")
    if row.get("nevers"):
        print(f"    {row['nevers']} of its costs stand for never")
    if row.get("reason"):
        print(f"    {row['reason']}")
    if row.get("unjudged"):
        print("    too large to be judged again here")
    for fault in row["faults"][:5]:
        print(f"    WRONG: {fault}")
    sys.stdout.flush()


def summary(rows):
    found = [r for r in rows if r.get("cost") is not None]
    contest = [r for r in found if r["known"].get("contest_best")]
    bounds = [r for r in rows if r.get("bound") is not None and r["known"].get("lower_bound")]
    print(f"\nanswered {len(found)} of {len(rows)}, proven optimal {sum(r['status'] == 'optimal' for r in found)}; "
          f"no dearer than the best of the contest "
          f"{sum(r['cost'] <= int(r['known']['contest_best']) for r in contest)} of {len(contest)}; bound as good as "
          f"the published one {sum(r['bound'] >= int(r['known']['lower_bound']) for r in bounds)} of {len(bounds)}")
    wrong = sum(bool(r["faults"]) for r in rows)
    print(f"judged again: {len(rows) - wrong} of {len(rows)} are what they say")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cleave")
    parser.add_argument("folder")
    parser.add_argument("--scratch", default="build/strategy", help="where compressed problems are unpacked")
    parser.add_argument("--deadline", type=float, help="instead of the limits in REFERENCE.csv")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only problems with this in their name")
    parser.add_argument("--json", help="the rows, for a program to read")
    a = parser.parse_args()
    known, rows = references(a.folder), []
    print(f"{'problem':26} {'cost':>20} {'contest':>11} {'winner':>11} {'best known':>11} {'bound':>20} "
          f"{'published':>11} {'gap':>10} {'status':10} {'read s':>6} {'seconds':>8} {'limit':>6} {'MB':>6}  "
          f"found by, bound by")
    for name, path in problems(a.folder):
        if a.only not in name:
            continue
        reference = reference_of(known, name)
        limit = a.deadline or float(reference.get("limit_s") or LIMIT_S)
        row = measure(a, unpacked(path, a.scratch), limit)
        row.update(name=name, known=reference, limit_s=limit)
        show(name, row, reference, limit)
        rows.append(row)
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)
    sys.exit(1 if not rows or summary(rows) else 0)


if __name__ == "__main__":
    main()
