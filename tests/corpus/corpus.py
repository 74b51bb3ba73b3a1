#!/usr/bin/env python3
"""corpus.py - every model of some folders through the command: planned or refused with a reason,
annotated, stripped back to the same bytes, and judged by ONNX's own checker before and after.

Usage: corpus.py CLEAVE FOLDER_OR_FILE... [--devices N] [--bind NAME=VALUE,...] [--limit N]

A symbol without a value in --bind gets one of sizes.py. The checker gets the annotated model with the IR
version set back to the original's; where it refuses the original (a newer IR or operator set than it
knows), it must refuse the annotated one in the same words. The last line is 'N passed, N failed'.

covers: A.007 A.038
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import onnx

from sizes import binding_of

def verdict_of_checker(model, ir_version):
    """'' when accepted, else the reason."""
    model.ir_version = ir_version
    try:
        onnx.checker.check_model(model)
        return ""
    except Exception as e:  # the checker's own exception classes differ by version
        return str(e).split("\n")[0]


def check_annotated(original_path, annotated_path):
    before = onnx.load(original_path, load_external_data=False)
    after = onnx.load(annotated_path, load_external_data=False)
    ir = before.ir_version
    if after.ir_version < 11:
        return f"IR version {after.ir_version} in the annotated file, expected 11 or more"
    if ir > 11 and after.ir_version != ir:
        return f"IR version went from {ir} to {after.ir_version}"
    a, b = verdict_of_checker(before, ir), verdict_of_checker(after, ir)
    if a != b:
        return f"checker says {b!r} of the annotated model and {a!r} of the original"
    return ""


def run_model(args, path):
    """(outcome, words): planned | refused | failed."""
    with tempfile.TemporaryDirectory() as tmp:
        out, back = os.path.join(tmp, "out.onnx"), os.path.join(tmp, "back.onnx")
        call = lambda *a: subprocess.run([args.cleave, *a], capture_output=True, text=True,
                                         stdin=subprocess.DEVNULL)
        shown = call("inspect", path, "--json")
        if shown.returncode == 65:
            return "refused", shown.stderr.strip()
        if shown.returncode != 0:
            return "failed", f"inspect exits {shown.returncode}: {shown.stderr.strip()}"
        symbols = [s["name"] if isinstance(s, dict) else s for s in json.loads(shown.stdout)["symbols"]]
        bind = []
        for s in symbols:
            bind += ["--bind", f"{s}={binding_of(s, symbols, args.given)}"]
        made = call("plan", path, "--devices", str(args.devices), "--memory", "4TB", "-o", out,
                    "--json", *bind)
        if made.returncode == 65:
            return "refused", made.stderr.strip()
        if made.returncode != 0:
            return "failed", f"plan exits {made.returncode}: {made.stderr.strip()[:300]}"
        stripped = call("strip", out, "-o", back)
        if stripped.returncode != 0:
            return "failed", f"strip exits {stripped.returncode}: {stripped.stderr.strip()}"
        with open(path, "rb") as f, open(back, "rb") as g:
            if f.read() != g.read():
                return "failed", "stripped file differs from the original"
        fault = check_annotated(path, out)
        if fault:
            return "failed", fault
        open_tensors = len(json.loads(made.stdout).get("plan", {}).get("open_tensors", []))
        return "planned", f"{open_tensors} open tensors" if open_tensors else ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("where", nargs="+")
    p.add_argument("--devices", type=int, default=2)
    p.add_argument("--bind", default="")
    p.add_argument("--limit", type=int, default=0)
    p.add_argument("--verbose", action="store_true")
    args = p.parse_args()
    args.given = dict(kv.rsplit("=", 1) for kv in args.bind.split(",") if kv)
    paths = []
    for where in args.where:
        if os.path.isfile(where):
            paths.append(where)
        for folder, _, names in os.walk(where):
            paths += [os.path.join(folder, n) for n in names if n.endswith(".onnx")]
    paths.sort()
    if args.limit:
        paths = paths[:: max(1, len(paths) // args.limit)]
    count = {"planned": 0, "refused": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, (outcome, words) in zip(paths, pool.map(lambda q: run_model(args, q), paths)):
            count[outcome] += 1
            if outcome != "planned" or (words and args.verbose):
                print(f"{outcome}: {path}: {words}")
    print(f"{count['planned']} planned, {count['refused']} refused with a reason")
    print(f"{count['planned'] + count['refused']} passed, {count['failed']} failed")
    return 1 if count["failed"] or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
