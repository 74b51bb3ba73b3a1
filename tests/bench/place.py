#!/usr/bin/env python3
"""place.py - `cleave place` on every workload of a folder, beside the figures known of it.

Usage: place.py CLEAVE FOLDER [--deadline S] [--only TEXT] [--modes MODE,...] [--json FILE]

Workloads below throughput/ run as contiguous and as free throughput, those below latency/ as latency, any
other as all three; where there is a FOLDER/workloads, only what is in it. FOLDER/REFERENCE.csv, if it is there, has a row an (objective, workload). Every answer
is judged again by place_judge.py; the exit status is 1 when one is not what it says, never for time.
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import place_judge

MODES = {  # name: objective, options, column of the reference
    "contiguous": ("throughput", ["--objective", "throughput", "--contiguous"], "contiguous_optimum"),
    "free": ("throughput", ["--objective", "throughput", "--free"], "free_best_known"),
    "latency": ("latency", ["--objective", "latency"], "free_best_known"),
}
FOUND, INFEASIBLE = 0, 3  # exit statuses
PART_OF_DP, LEAST_LIMIT_S = 1 / 100, 0.1  # the time that a contiguous answer should take
GAP_WANTED = 0.01
SAME = 1e-9  # relative: an objective that the reference has, too
GRACE_S = 60  # behind the deadline before a run is ended


def workloads(folder):
    """(name as in the reference, objective or None, path)"""
    inner = os.path.join(folder, "workloads")
    folder = inner if os.path.isdir(inner) else folder
    for base, _, names in sorted(os.walk(folder)):
        for name in sorted(n for n in names if n.endswith(".json")):
            path = os.path.join(base, name)
            parts = os.path.relpath(path, folder)[:-len(".json")].split(os.sep)
            kinds = [i for i, part in enumerate(parts) if part in ("throughput", "latency")]
            if kinds:
                yield "/".join(parts[kinds[0] + 1:]), parts[kinds[0]], path
            elif is_workload(path):
                yield "/".join(parts), None, path


def is_workload(path):
    with open(path, encoding="utf-8") as f:
        try:
            raw = json.load(f)
        except ValueError:
            return False
    return isinstance(raw, dict) and "maxFPGAs" in raw


def references(folder):
    path = os.path.join(folder, "REFERENCE.csv")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8", newline="") as f:
        return {(row["objective"], row["workload"]): row for row in csv.DictReader(f)}


def number(text):
    """the number in "over 1200" or "" """
    found = re.search(r"\d+(\.\d+)?", text or "")
    return float(found.group()) if found else None


def run(argv, limit_s):
    """(exit status or None when ended, stdout, stderr, seconds, peak bytes); its output goes to files,
    so that no pipe fills up"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        ended = False
        while True:
            pid, status, usage = os.wait4(p.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - start > limit_s and not ended:
                p.kill()
                ended = True
            time.sleep(0.001)
        seconds = time.monotonic() - start
        p.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for f in (out, err):
            f.seek(0)
            texts.append(f.read().decode(errors="replace"))
    return None if ended else p.returncode, texts[0], texts[1], seconds, usage.ru_maxrss * 1024


def measure(a, path, mode):
    """a row of the table, as a dictionary"""
    argv = [a.cleave, "place", path, "--json", "--deadline", str(a.deadline), *MODES[mode][1]]
    code, out, err, seconds, peak = run(argv, a.deadline + GRACE_S)
    row = {"seconds": seconds, "peak": peak, "faults": []}
    if code not in (FOUND, INFEASIBLE):
        row["faults"] = [f"exit status {code}: {err.strip()[:300]}"]
        return row
    try:
        answer = json.loads(out)
        row.update({k: answer[k] for k in ("objective", "bound", "gap", "status", "found_by", "bound_by")})
        if code == FOUND:
            row["faults"] = place_judge.judge(place_judge.Workload(path), answer)[1]
        elif answer["objective"] is not None:
            row["faults"] = [f"exit status {code} with an objective"]
    except (ValueError, KeyError, TypeError) as e:
        row["faults"] = [f"what it printed cannot be read: {type(e).__name__} {e}"]
    return row


def text(value, form="{:.8g}"):
    return "-" if value is None else form.format(value)


def show(name, mode, row, reference, limit):
    objective, gap = row.get("objective"), row.get("gap")
    against = None
    if reference is not None and objective is not None:
        against = 100 * (objective / reference - 1) if reference else 0
    print(f"{name:38.38} {mode:10} {text(objective, '{:.12g}'):>15} {text(reference, '{:.12g}'):>15} "
          f"{text(against, '{:+.3f}%'):>9} {text(row.get('bound'), '{:.12g}'):>15} "
          f"{text(None if gap is None else 100 * gap, '{:.3f}%'):>9} {row.get('status', '-'):10} "
          f"{row['seconds']:8.3f} {text(limit, '{:.3f}'):>8} {row['peak'] / 1e6:6.0f}  "
          f"{row.get('found_by') or '-'}, {row.get('bound_by') or '-'}")
    for fault in row["faults"][:5]:
        print(f"    WRONG: {fault}")
    sys.stdout.flush()


def summary(rows):
    print()
    for mode in MODES:
        mine = [r for r in rows if r["mode"] == mode]
        known = [r for r in mine if r["reference"] is not None]
        if not mine:
            continue
        done = [r for r in mine if r.get("objective") is not None]
        as_good = sum(r.get("objective") is not None and r["objective"] <= r["reference"] * (1 + SAME) for r in known)
        better = sum(r.get("objective") is not None and r["objective"] < r["reference"] * (1 - SAME) for r in known)
        print(f"{mode}: of {len(mine)} answered {len(done)}, proven {sum(r['status'] == 'optimal' for r in done)}, "
              f"gap at most {GAP_WANTED:.0%} {sum(r['gap'] is not None and r['gap'] <= GAP_WANTED for r in done)}; of "
              f"{len(known)} with a reference as good {as_good}, better {better}; slowest "
              f"{max(r['seconds'] for r in mine):.2f} s, most memory {max(r['peak'] for r in mine) / 1e6:.0f} MB")
        timed = [r for r in mine if r["limit"] is not None]
        if timed:
            print(f"  in at most {PART_OF_DP:.0%} of the published program's time, or {LEAST_LIMIT_S} s: "
                  f"{sum(r['seconds'] <= r['limit'] for r in timed)} of {len(timed)}")
    wrong = sum(bool(r["faults"]) for r in rows)
    print(f"judged again: {len(rows) - wrong} of {len(rows)} are what they say")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cleave")
    parser.add_argument("folder")
    parser.add_argument("--deadline", type=float, default=60)
    parser.add_argument("--only", default="", help="only workloads with this in their name")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--json", help="the rows, for a program to read")
    a = parser.parse_args()
    known, rows = references(a.folder), []
    print(f"{'workload':38} {'mode':10} {'objective':>15} {'reference':>15} {'against':>9} {'bound':>15} "
          f"{'gap':>9} {'status':10} {'seconds':>8} {'limit':>8} {'MB':>6}  found by, bound by")
    for name, objective, path in workloads(a.folder):
        for mode in (m for m in a.modes.split(",") if a.only in name):
            if objective not in (None, MODES[mode][0]):
                continue
            reference = known.get((MODES[mode][0], name), {})
            row = measure(a, path, mode)
            dp = number(reference.get("published_dp_cpu_seconds")) if mode == "contiguous" else None
            row.update(mode=mode, name=name, reference=number(reference.get(MODES[mode][2])),
                       limit=None if dp is None else max(dp * PART_OF_DP, LEAST_LIMIT_S))
            show(name, mode, row, row["reference"], row["limit"])
            rows.append(row)
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)
    sys.exit(1 if not rows or summary(rows) else 0)


if __name__ == "__main__":
    main()
