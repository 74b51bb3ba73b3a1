#!/usr/bin/env python3
"""measured.py - predictions held against measured times of real accelerators.

Usage: measured.py CLEAVE FOLDER

FOLDER has a folder for each device with measured kernels and collectives, and served.csv: whole models as they
were served. Prints, for each device, the errors of its measured times on those rows (cleave calibrate --score);
then, for decode steps, time predicted beside time per output token, and Kendall's tau over the rows of a backend. A
row of served.csv counts as a decode step if prefills of other requests, batch / osl in each step, take less than a
tenth of it. The graph is made by decoder_model.py.
"""
import argparse
import csv
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile

import decoder_model

DEVICES = {"a100_sxm": "a100-80gb", "h100_sxm": "h100-sxm", "h200_sxm": "h200", "b200_sxm": "b200", "l40s": "l40s"}
CLUSTERS = {"h100_sxm": "dgx-h100", "h200_sxm": "dgx-h200"}
# FLOP/s that a prefill reaches on one device: six tenths of the data sheet's dense peak
PREFILL_RATE = {("h100_sxm", "bf16"): 0.6 * 989e12, ("h200_sxm", "fp8"): 0.6 * 1979e12}
PARAMETERS = {"8b": 8.03e9, "70b": 70.6e9}
# model of served.csv, system, precision: sizes of the graph, options of plan
SERVED = {("Llama-3.1-70B", "h200_sxm", "fp8"): ("70b", ["--weights", "fp8", "--kv", "fp8"]),
          ("Llama-3.1-8B", "h100_sxm", "bf16"): ("8b", [])}
PREFILL_SHARE = 0.1
TIME = re.compile(r"^latency +([0-9.]+) (ns|us|ms|s) ", re.M)
MS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}


def plan_ms(cleave, model, cluster, tp, binds, options):
    bind = ",".join(f"{k}={v}" for k, v in binds.items())
    mesh = ["--devices", "1"] if tp == 1 else ["--devices", str(tp), "--mesh", str(tp), "--stages", "1"]
    done = subprocess.run([cleave, "plan", "--runtime", "engine", "--cluster", cluster, "--no-output", model, "--bind",
                           bind, *mesh, *options], capture_output=True, text=True)
    found = TIME.search(done.stdout)
    return float(found.group(1)) * MS[found.group(2)] if found else None


def served_rows(folder):
    """rows of served.csv that are asked for, by (sizes, options, system)"""
    found = {}
    with open(os.path.join(folder, "served.csv")) as f:
        for row in csv.DictReader(f):
            for (model, system, precision), what in SERVED.items():
                if model in row["model"] and row["system"] == system and row["precision"] == precision and \
                        row["pp"] == "1" and row["attention_dp"] == "1":
                    found.setdefault((system, *[str(w) for w in what]), (what, []))[1].append(row)
    return found


def decode_rows(rows, sizes):
    """those whose time per output token is a decode step and little else"""
    for r in rows:
        rate = PREFILL_RATE[r["system"], r["precision"]] * int(r["tp"])
        one_ms = 2e3 * PARAMETERS[sizes] * int(r["isl"]) / rate
        if int(r["batch"]) / int(r["osl"]) * one_ms < PREFILL_SHARE * float(r["tpot_ms"]):
            yield r


def tau(pairs):
    """Kendall's, of (predicted, measured); ties count nothing"""
    score = [((a[0] > b[0]) - (a[0] < b[0])) * ((a[1] > b[1]) - (a[1] < b[1])) for a, b in itertools.combinations(pairs, 2)]
    return sum(score) / len(score) if score else 1.0


def served(cleave, folder, scratch):
    for (system, sizes, _), (what, rows) in sorted(served_rows(folder).items()):
        model = os.path.join(scratch, f"{sizes}.onnx")
        decoder_model.write(model, decoder_model.SIZES[sizes])
        known, errors, pairs = {}, [], {}
        print(f"\n{sizes} on {system}, decode step: backend, tp, batch, context; served ms, predicted ms, ratio")
        for r in sorted(decode_rows(rows, sizes), key=lambda r: (r["backend"], int(r["tp"]), int(r["batch"]), int(r["isl"]))):
            context = int(r["isl"]) + int(r["osl"]) // 2
            key = (int(r["tp"]), int(r["batch"]), context)
            if key not in known:
                binds = {"batch_size": key[1], "sequence_length": 1, "past_sequence_length": context - 1,
                         "total_sequence_length": context}
                known[key] = plan_ms(cleave, model, CLUSTERS[system], key[0], binds, what[1])
            if known[key] is None:
                print(f"{r['backend']:8} {key[0]:3} {key[1]:4} {context:6}  no plan")
                continue
            tpot = float(r["tpot_ms"])
            errors.append(abs(known[key] / tpot - 1))
            pairs.setdefault(r["backend"], []).append((known[key], tpot))
            print(f"{r['backend']:8} {key[0]:3} {key[1]:4} {context:6} {tpot:8.2f} {known[key]:8.2f} {known[key] / tpot:6.2f}")
        if errors:
            print(f"{sizes} on {system}: {len(errors)} rows, median error {statistics.median(errors):.1%}, "
                  f"worst {max(errors):.1%}, tau " + ", ".join(f"{tau(p):.2f} ({b})" for b, p in sorted(pairs.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cleave")
    parser.add_argument("folder")
    args = parser.parse_args()
    for name, device in DEVICES.items():
        path = os.path.join(args.folder, name)
        if os.path.isdir(path):
            print(f"\n{device}: errors of its measured times on {path}", flush=True)
            subprocess.run([args.cleave, "calibrate", "--score", path, "--device", device])
    if os.path.exists(os.path.join(args.folder, "served.csv")):
        with tempfile.TemporaryDirectory() as scratch:
            served(args.cleave, args.folder, scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
