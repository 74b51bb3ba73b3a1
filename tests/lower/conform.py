#!/usr/bin/env python3
"""conform.py - ONNX's own tests, with each operator split in every way that its rule admits.

Usage: conform.py LOWER_LAYOUTS CLEAVE_RUN TESTDATA [WORD] [--mesh 2 --mesh 3] [--every N] [--csv FILE]
                  [--show N] [--collectives ort|tensorrt] [--enough SHARE]

Each test of ONNX's backend has a model, inputs and expected outputs. lower_layouts writes, for every
operator of the model and every layout on each mesh, one plain model in which all devices stand side
by side, and one with all operators split at random; ONNX Runtime runs it on the test's inputs, and the
outputs have to be those expected. --collectives: a model a device instead, with collectives of that
dialect, which cleave-run exchanges; how many there are of each is counted. The
whole model is run first: what the runtime itself does not compute as expected says nothing of a
layout. Exit 1 if a layout fails, or if fewer than 85 % (--enough) of the tests have a layout or a
reason to have none. WORD: only tests whose name has it. --every: only every Nth test.

covers: A.051 E.057
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile

RTOL, ATOL = 1e-3, 1e-5  # as ONNX compares, but for sums in another order
ENOUGH = 0.85  # of the tests have a sharded layout, or a reason of principle for none


class Test:
    def __init__(self, folder, name, kind):
        self.name, self.kind, self.model = name, kind, os.path.join(folder, "model.onnx")
        self.sets = sorted(os.path.join(folder, d) for d in os.listdir(folder)
                           if d.startswith("test_data_set"))
        self.layouts, self.whole, self.faults = [], [], []


def tests_in(root, word):
    for kind in ("node", "simple", "pytorch-operator", "pytorch-converted"):
        for name in sorted(os.listdir(os.path.join(root, "data", kind))):
            folder = os.path.join(root, "data", kind, name)
            if (not word or word in name) and os.path.exists(os.path.join(folder, "model.onnx")):
                yield Test(folder, name, kind)


def lower(args):
    program, test, mesh, prefix, dialect = args
    how = ["--collectives", dialect] if dialect else []
    run = subprocess.run([program, test.model, "--mesh", mesh, "--out", prefix, *how],
                         capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    if run.returncode != 0:
        lines.append({"op": "", "type": "", "whole": run.stderr.strip()[-300:]})
    return lines


def collectives_of(folder):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as f:
        return [c["kind"] for c in json.load(f)["collectives"]]


def run_batch(program, lines, folder):
    path = os.path.join(folder, "batch.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(line) + "\n" for line in lines)
    run = subprocess.run([program, "batch", "--jobs", str(os.cpu_count()), path],
                         capture_output=True, text=True, check=False)
    reported = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if sorted(one["entry"] for one in reported) != list(range(len(lines))):
        sys.exit(f"{program} batch gives {len(reported)} answers for {len(lines)} models: "
                 f"{run.stderr.strip()[-500:]}")
    return sorted(reported, key=lambda one: one["entry"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("lower_layouts")
    p.add_argument("cleave_run")
    p.add_argument("testdata")
    p.add_argument("word", nargs="?")
    p.add_argument("--mesh", action="append")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--csv")
    p.add_argument("--keep")
    p.add_argument("--show", type=int, default=20)
    p.add_argument("--collectives", choices=["ort", "tensorrt"])
    p.add_argument("--enough", type=float, default=ENOUGH)
    a = p.parse_args()
    meshes = a.mesh or ["2", "3"]
    all_tests = list(tests_in(a.testdata, a.word))[::a.every]
    counts, failed, unsupported = collections.Counter(), [], 0
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = a.keep or scratch
        jobs = [(a.lower_layouts, t, m, os.path.join(folder, f"{i}.{m}"), a.collectives)
                for i, t in enumerate(all_tests) for m in meshes]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for job, reported in zip(jobs, pool.map(lower, jobs)):
                for one in reported:
                    one["mesh"] = job[2]
                    kind = "model" if "model" in one else "fault" if "fault" in one else "whole"
                    {"model": job[1].layouts, "fault": job[1].faults,
                     "whole": job[1].whole}[kind].append(one)
        lines, of = [], []
        for t in all_tests:
            for one in [None] + t.layouts:
                for data in t.sets:
                    lines.append({"model": one["model"] if one else t.model, "data": data,
                                  "rtol": RTOL, "atol": ATOL})
                    of.append((t, one))
        if a.collectives:
            for t in all_tests:
                counts.update(kind for one in t.layouts for kind in collectives_of(one["model"]))
        answers = run_batch(a.cleave_run, lines, folder)
    base = collections.defaultdict(list)
    for (t, one), answer in zip(of, answers):
        if one is None:
            base[t.name].append(answer)
    result = {}
    for (t, one), answer in zip(of, answers):
        if one is not None:
            result.setdefault(id(one), []).append(answer)
    for t in all_tests:
        runs = all(b.get("outcome") == "equal" for b in base[t.name])
        counts["tests"] += 1
        counts["run as expected whole"] += runs
        passed = 0
        for one in t.layouts:
            got = result.get(id(one), [])
            good = all(g.get("outcome") == "equal" for g in got)
            if not runs:
                counts["layouts not judged"] += 1
                continue
            what = "layouts" if one["split"] else "copies on all devices"
            counts[f"{what} {'passed' if good else 'failed'}"] += 1
            passed += good and bool(one["split"])
            if not good:
                failed.append((t, one, next(g for g in got if g.get("outcome") != "equal")))
        for one in t.faults:
            counts["layouts refused with a reason" if one["split"]
                   else "copies refused with a reason"] += 1
            rows.append((t.name, one["type"], one["mesh"], one["split"], "refused", one["fault"]))
        counts["tests with a layout"] += passed > 0
        counts["tests with a reason"] += passed == 0 and bool(t.whole or t.faults)
        rows += [(t.name, o["type"], o["mesh"], o["split"],
                  "not judged" if not runs else
                  "passed" if all(g.get("outcome") == "equal" for g in result.get(id(o), []))
                  else "failed", "") for o in t.layouts]
        rows += [(t.name, o["type"], o["mesh"], "", "no rule", o["whole"]) for o in t.whole]
    for t, one, answer in failed[:a.show]:
        print(f"failed: {t.name} mesh {one['mesh']}: {one['type']} {one['split']}: "
              f"{json.dumps({k: v for k, v in answer.items() if k != 'model'})[:400]}")
    if a.csv:
        with open(a.csv, "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f)
            out.writerow(["test", "operator", "mesh", "split", "result", "reason"])
            out.writerows(rows)
    for key, n in counts.items():
        print(f"{n:7d} {key}")
    enough = counts["tests with a layout"] + counts["tests with a reason"]
    return 1 if failed or enough < a.enough * counts["tests"] else 0


if __name__ == "__main__":
    sys.exit(main())
