#!/usr/bin/env python3
"""models.py - real models, planned, lowered in every form and run: equal to the original.

Usage: models.py CLEAVE CLEAVE_RUN LOWER_LAYOUTS MODEL_OR_FOLDER ... [--only WORD] [--plans WORD] [--forms FORM,...]
                 [--collectives ort|tensorrt] [--every N]

Plans are stages, tensors split over 2, 3, 4 and 8 devices, batches over 2, and both over 2x4, as the
search finds them for slow devices with fast links, and with every operator split in a way chosen at
random (by LOWER_LAYOUTS, the program of tests/lower). Inputs are random; symbolic dimensions get small
sizes. Outputs have to be those of the whole model on ONNX Runtime, but for the order of sums. Exit 1
if any is not. --every 2: of each model every second plan, of the next model the others.

covers: E.057
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

# Devices so slow, and links so fast, that everything is worth splitting.
def made(value):
    return {"value": value, "source": "made for this test"}


SLOW_DEVICE = {
    "version": 1, "name": "slow", "vendor": "made", "memory": made("8GB"), "reserved": made("0B"),
    "memory_bandwidth": made("1GB/s"), "matrix": {"FLOAT": made("1GFLOP/s")},
    "vector": {"FLOAT": made("1GFLOP/s")},
    "efficiency": {k: made(1) for k in ("matrix", "vector", "memory")},
    "launch": made("0ns"), "workspace_proportion": made(0.5)}
SLOW_CLUSTER = {
    "version": 1, "name": "slow-8",
    "devices": [{"kind": "slow", "count": 8, "name": "d"}],
    "levels": [{"name": "link", "size": 8, "bandwidth": made("100TB/s"), "latency": made("0ns")}]}

PLANS = {
    "stages 2": ["--max-tp", "1", "--devices", "2", "--stages", "2"],
    "stages 4": ["--max-tp", "1", "--devices", "4", "--stages", "4"],
    "tensor 2": ["--devices", "2", "--mesh", "tp=2", "--stages", "1"],
    "tensor 3": ["--devices", "3", "--mesh", "tp=3", "--stages", "1"],
    "tensor 4": ["--devices", "4", "--mesh", "tp=4", "--stages", "1"],
    "tensor 8": ["--devices", "8", "--mesh", "tp=8", "--stages", "1"],
    "data 2": ["--devices", "2", "--mesh", "dp=2", "--data-parallel", "--stages", "1"],
    "joint 2x4": ["--devices", "8", "--mesh", "dp=2xtp=4"],
    "stages 2 of 2x2": ["--devices", "8", "--mesh", "2x2", "--stages", "2"],
    "random 2": "2", "random 3": "3", "random 4": "4", "random 2x2": "2x2", "random 2x3": "2x3",
    "uneven 1:2": "2:1,2", "uneven 3:1:2": "3:3,1,2",
}
SIZES = {"batch": 2, "batch_size": 2, "sequence_length": 8, "past_sequence_length": 8,
         "total_sequence_length": 8, "src_len": 6, "tgt_len": 5, "encoder_sequence_length": 8,
         "decoder_sequence_length": 4, "past_decoder_sequence_length": 7,
         "encoder_sequence_length_out": 8}
RTOL = 2e-4  # of the largest element of an output


def call(*args, ok=(0,)):
    run = subprocess.run(args, capture_output=True, text=True, check=False)
    if run.returncode not in ok:
        raise RuntimeError(f"{os.path.basename(args[0])} {args[1]} exits {run.returncode}: "
                           f"{(run.stderr or run.stdout).strip()[-400:]}")
    return run.stdout


def symbols_of(cleave, model):
    return [s["name"] for s in json.loads(call(cleave, "inspect", "--json", model))["symbols"]]


def sizes_of(cleave, model):
    names = symbols_of(cleave, model)
    sizes = {n: SIZES[n] for n in names if n in SIZES}
    if "past_sequence_length" in names and "total_sequence_length" in names:
        sizes["sequence_length"] = 1
        sizes["total_sequence_length"] = sizes["past_sequence_length"] + 1
    if "past_sequence_length + 1" in names:
        sizes["sequence_length"] = 1
    return [f"{n}={v}" for n, v in sizes.items()]


def with_sums(names, sizes):
    """The runner knows no expressions: "past_sequence_length + 1" gets a size of its own."""
    known = dict(size.split("=") for size in sizes)
    sums = []
    for name in names:
        terms = name.split(" + ")
        if name not in known and all(t in known or t.isdigit() for t in terms):
            sums.append(f"{name}={sum(int(known.get(t, t)) for t in terms)}")
    return sizes + sums


def outputs_in(folder):
    names = sorted(os.listdir(folder), key=lambda n: int(n[len("output_"):-len(".npy")]))
    return [np.load(os.path.join(folder, n)) for n in names]


def difference(got, want):
    """The largest difference beside the largest element; a sentence where they cannot be compared."""
    if len(got) != len(want):
        return f"{len(got)} outputs, expected {len(want)}"
    worst = 0.0
    for i, (a, b) in enumerate(zip(got, want)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output {i} is {a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
        if a.size == 0:
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        if not (np.isnan(a) == np.isnan(b)).all() or not (np.isinf(a) == np.isinf(b)).all():
            return f"output {i} has NaN or Inf where the original has not, or the other way round"
        fine = np.isfinite(b)
        if fine.any():
            scale = max(np.abs(b[fine]).max(), 1e-6)
            worst = max(worst, np.abs(a[fine] - b[fine]).max() / scale)
    return worst


class Judge:
    def __init__(self, args):
        self.cleave, self.runner, self.layouts = args.cleave, args.cleave_run, args.lower_layouts
        self.cluster = args.cluster
        self.forms, self.dialect = args.forms.split(","), args.collectives
        self.failed, self.passed, self.no_plan = [], 0, 0
        self.seed = 11  # of splits chosen at random

    def has_weights(self, model):
        """Files without their weights can be planned, but not run."""
        reported = json.loads(call(self.cleave, "inspect", "--json", model))
        return not any("missing" in note for note in reported.get("warnings", []))

    def run(self, what, out, binds=()):
        bind = [x for b in binds for x in ("--bind", b)]
        call(self.runner, "run", what, "--random", "--seed", "7", "--format", "npy", "-o", out,
             "--threads", "1", "--quiet", *bind)
        return outputs_in(out)

    def plan(self, plan, model, sizes, path):
        """Writes it; False: there is none."""
        how = PLANS[plan]
        if isinstance(how, str):
            call(self.layouts, model, "--mesh", how, "--random", str(self.seed), "--out", path, *sizes)
            return True
        bind = [x for size in sizes for x in ("--bind", size)]
        run = subprocess.run([self.cleave, "plan", "--cluster", self.cluster, "--no-output",
                              "--plan-out", path, "-q", *bind, *how, model],
                             capture_output=True, text=True, check=False)
        if run.returncode not in (0, 3):
            raise RuntimeError(f"plan exits {run.returncode}: {run.stderr.strip()[-300:]}")
        return run.returncode == 0

    def one(self, name, plan, model, sizes, want, folder):
        path = os.path.join(folder, "plan.json")
        if not self.plan(plan, model, sizes, path):
            self.no_plan += 1
            print(f"{name:36s} {plan:16s} no plan")
            return
        reported = []
        for form in self.forms:
            out = os.path.join(folder, "lowered")
            shutil.rmtree(out, ignore_errors=True)
            shutil.rmtree(out + ".out", ignore_errors=True)
            try:
                how = ["--collectives", self.dialect] if form == "devices" else []
                call(self.cleave, "lower", model, path, "--form", form, *how, "-o", out, "-q")
                worst = difference(self.run(out, out + ".out"), want)
            except RuntimeError as e:
                worst = str(e)
            good = not isinstance(worst, str) and worst <= RTOL
            reported.append(f"{form} {worst:.1e}" if not isinstance(worst, str) else f"{form}: {worst}")
            if good:
                self.passed += 1
            else:
                self.failed.append((name, plan, form, worst))
        with open(path, encoding="utf-8") as f:
            p = json.load(f)
        sends = sum(c["kind"] not in ("slice", "neutral") for c in p.get("collectives", []))
        splits = sum(n for what, n in p.get("operators", {}).get("split_runs", []) if what)
        print(f"{name:32s} {plan:15s} {splits:4d} split, {sends:3d} collectives; {'; '.join(reported)}",
              flush=True)

    def model(self, path, plans, only_folder):
        name = os.path.basename(path)
        with tempfile.TemporaryDirectory(dir=only_folder) as folder:
            model = os.path.join(folder, name)
            os.symlink(os.path.abspath(path), model)
            if not self.has_weights(model):
                print(f"{name}: its weights are not there")
                return
            try:
                sizes = sizes_of(self.cleave, model)
                want = self.run(model, os.path.join(folder, "whole"),
                                with_sums(symbols_of(self.cleave, model), sizes))
            except RuntimeError as e:
                self.failed.append((name, "", "whole", str(e)))
                print(f"{name}: {e}")
                return
            for plan in plans:
                try:
                    self.one(name, plan, model, sizes, want, folder)
                except RuntimeError as e:
                    self.failed.append((name, plan, "", str(e)))
                    print(f"{name:36s} {plan:16s} {e}", flush=True)


def slow_cluster(folder):
    for kind, what in (("slow", SLOW_DEVICE), ("slow-8", SLOW_CLUSTER)):
        with open(os.path.join(folder, f"{kind}.json"), "w", encoding="utf-8") as f:
            json.dump(what, f)
    return os.path.join(folder, "slow-8.json")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("cleave_run")
    p.add_argument("lower_layouts")
    p.add_argument("models", nargs="+")
    p.add_argument("--only", default="")
    p.add_argument("--plans", default="")
    p.add_argument("--forms", default="stages,devices,emulate")
    p.add_argument("--collectives", default="ort")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--scratch")
    args = p.parse_args()
    with tempfile.TemporaryDirectory(dir=args.scratch) as configs:
        args.cluster = slow_cluster(configs)
        return judge_all(args)


def judge_all(args):
    judge = Judge(args)
    files = []
    for m in args.models:
        files += sorted(os.path.join(m, f) for f in os.listdir(m) if f.endswith(".onnx")) \
            if os.path.isdir(m) else [m]
    for i, path in enumerate(files):
        if args.only in os.path.basename(path):
            judge.model(path, [n for n in PLANS if args.plans in n][i % args.every::args.every], args.scratch)
    for one in judge.failed:
        print("failed:", *one)
    print(f"{judge.passed} lowered and equal, {len(judge.failed)} failed, "
          f"{judge.no_plan} without a plan")
    return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
