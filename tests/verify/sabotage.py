#!/usr/bin/env python3
"""sabotage.py - what cleave verify makes of lowered models that are wrong, and of those that are right.

Usage: sabotage.py CLEAVE CLEAVE_RUN LOWER_LAYOUTS MODEL_OR_FOLDER ... [--seeds FROM:TO] [--right] [--show]

For each seed a model is split at random, or cut into two stages, and the plan is verified: it is right, and has to be called
so. Then it is verified by a runner that spoils what it is given, once in each form, before cleave-run
has it: parts in the wrong place or swapped, a reduction left out, a bias added twice, an element that
is off, shards of two weights swapped, operands, axes and operators that are others, a Cast dropped.
Whether a fault shows is worked out here: an output has to be off by a thousandth of its size, or be
another integer. Each such fault has to be found (exit code 4), or not to run (7); what changes no
number is counted. --right: only that right plans are called right.
Exit 1 if a fault is missed, a right plan is accused, or less than a third show.
"""
import argparse
import collections
import ctypes
import ctypes.util
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lower"))
import models  # noqa: E402  how small symbolic dimensions are

VISIBLE = 1e-3  # of an output's size
MESHES = ["2", "3", "2x2", "2:1,2", None]  # None: two stages of whole operators
SEED = "7"      # of inputs: with it all of tests/data/runnable run
RUNS_S = "20"   # devices that wait for one that has no collective any more


# -- checksums, made anew --

class Xxh128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
XXHASH.XXH3_128bits.restype = Xxh128
XXHASH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3(content):
    digest = XXHASH.XXH3_128bits(content, len(content))
    return f"{digest.high:016x}{digest.low:016x}"


def write_manifest(path, manifest):
    """With a digest made anew, of all that stands before it."""
    manifest.pop("digest", None)
    text = json.dumps(manifest)[:-1] + ", "
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'{text}"digest": "{xxh3(text.encode())}"}}')


def renew_manifest(folder):
    path = os.path.join(folder, "manifest.json")
    with open(path, encoding="utf-8") as f:
        manifest = json.load(f)
    for one in manifest["files"]:
        with open(os.path.join(folder, one["file"]), "rb") as f:
            content = f.read()
        one.update(bytes=len(content), xxh3=xxh3(content))
    write_manifest(path, manifest)


# -- weights, in the model or beside it --

def where(weight):
    return {e.key: e.value for e in weight.external_data}


def values_of(weight, folder):
    if weight.data_location != onnx.TensorProto.EXTERNAL:
        return numpy_helper.to_array(weight).copy()
    at = where(weight)
    dtype = numpy_helper.to_array(helper.make_tensor("", weight.data_type, [0], [])).dtype
    count = int(np.prod(weight.dims))
    return np.fromfile(os.path.join(folder, at["location"]), dtype, count,
                       offset=int(at.get("offset", 0))).reshape(tuple(weight.dims))


def put(weight, values, folder):
    if weight.data_location != onnx.TensorProto.EXTERNAL:
        weight.CopyFrom(numpy_helper.from_array(values, weight.name))
        return
    at = where(weight)
    with open(os.path.join(folder, at["location"]), "r+b") as f:
        f.seek(int(at.get("offset", 0)))
        f.write(values.tobytes())


class Spoiler:
    """The models of a folder; each fault is a method that says what it did, or None."""

    def __init__(self, folder, seed):
        self.folder, self.rng = folder, random.Random(seed)
        self.models = {name: onnx.load(os.path.join(folder, name), load_external_data=False)
                       for name in sorted(os.listdir(folder)) if name.endswith(".onnx")}
        self.name = self.rng.choice(sorted(self.models))
        self.graph = self.models[self.name].graph
        self.weights = {w.name: w for w in self.graph.initializer}

    def nodes(self, *types):
        return [n for n in self.graph.node if n.op_type in types]

    def some(self, of):
        return self.rng.choice(of) if of else None

    def floats(self):
        return [w for w in self.graph.initializer
                if w.data_type == onnx.TensorProto.FLOAT and int(np.prod(w.dims)) > 0]

    def parts_swapped(self):
        node = self.some([n for n in self.nodes("Concat") if len(set(n.input)) > 1])
        if node:
            i = self.rng.randrange(len(node.input) - 1)
            node.input[i], node.input[i + 1] = node.input[i + 1], node.input[i]
            return f"inputs {i} and {i + 1} of {node.name}"
        return None

    def wrong_part(self):
        node = self.some([n for n in self.nodes("Slice") if len(n.input) > 2 and n.input[1] in self.weights
                          and n.input[2] in self.weights])
        if not node:
            return None
        start, end = (values_of(self.weights[node.input[k]], self.folder) for k in (1, 2))
        step = np.where(start >= end - start, start - end, end - start)
        if not step.any():
            return None
        for k, moved in ((1, start + step), (2, end + step)):
            name = f"{node.input[k]}.moved{k}"
            self.graph.initializer.append(numpy_helper.from_array(moved, name))
            node.input[k] = name
        return f"{node.name} takes {start.tolist()} + {step.tolist()}"

    def reduction_left_out(self):
        node = self.some(self.nodes("Sum", "AllReduce"))
        if not node:
            return None
        for model in self.models.values():  # a device that does not exchange makes all others wait
            for n in model.graph.node:
                if n.name == node.name and n.op_type == node.op_type:
                    n.op_type, n.domain = "Identity", ""
                    del n.input[1:], n.attribute[:]
        return node.name

    def bias_doubled(self):
        node = self.some([n for n in self.nodes("Add", "Gemm", "Conv", "Sum")
                          if n.input[-1] in self.weights or n.input[0] in self.weights])
        if not node:
            return None
        name = node.input[-1] if node.input[-1] in self.weights else node.input[0]
        values = values_of(self.weights[name], self.folder)
        self.graph.initializer.append(numpy_helper.from_array(values + values, name + ".doubled"))
        node.input[list(node.input).index(name)] = name + ".doubled"
        return f"{name} of {node.name}"

    def element_off(self):
        weight = self.some(self.floats())
        if not weight:
            return None
        values = values_of(weight, self.folder)
        at = self.rng.randrange(values.size)
        values.reshape(-1)[at] += max(1.0, float(np.abs(values).max()))
        put(weight, values, self.folder)
        return f"element {at} of {weight.name}"

    def shards_swapped(self):
        alike = collections.defaultdict(list)
        for w in self.floats():
            alike[tuple(w.dims)].append(w)
        group = self.some([g for g in alike.values() if len(g) > 1])
        if not group:
            return None
        a, b = self.rng.sample(group, 2)
        x, y = values_of(a, self.folder), values_of(b, self.folder)
        put(a, y, self.folder)
        put(b, x, self.folder)
        return f"{a.name} and {b.name}"

    def operands_swapped(self):
        node = self.some(self.nodes("Sub", "Div", "MatMul"))
        if node:
            node.input[0], node.input[1] = node.input[1], node.input[0]
        return node and node.name

    def other_axes(self):
        node = self.some(self.nodes("Transpose", "Softmax", "ReduceMean"))
        for a in node.attribute if node else []:
            if a.name in ("perm", "axes") and len(a.ints) > 1:
                a.ints[0], a.ints[1] = a.ints[1], a.ints[0]
                return f"{a.name} of {node.name}"
            if a.name == "axis":
                a.i = 0
                return f"axis of {node.name}"
        return None

    def operator_left_out(self):
        node = self.some(self.nodes("Relu", "Erf", "Tanh", "Sqrt", "Sigmoid", "Softmax", "Clip", "Neg"))
        if node:
            node.op_type, node.domain = "Identity", ""
            del node.input[1:], node.attribute[:]
        return node and node.name

    def cast_dropped(self):
        node = self.some(self.nodes("Cast"))
        if node:
            node.op_type = "Identity"
            del node.attribute[:]
        return node and node.name

    def other_operand(self):
        node = self.some([n for n in self.graph.node if n.op_type in ("Add", "Mul", "MatMul", "Sub")])
        same = [n for n in self.graph.node if node and n.op_type == node.op_type and n.name != node.name]
        if not same:
            return None
        node.input[0] = self.some(same).input[0]
        return f"{node.name} reads {node.input[0]}"

    FAULTS = (parts_swapped, wrong_part, reduction_left_out, bias_doubled, element_off, shards_swapped,
              operands_swapped, other_axes, operator_left_out, cast_dropped, other_operand)

    def spoil(self):
        for fault in self.rng.sample(self.FAULTS, len(self.FAULTS)):
            what = fault(self)
            if what:
                for name, model in self.models.items():
                    onnx.save(model, os.path.join(self.folder, name))
                renew_manifest(self.folder)
                return fault.__name__, f"{self.name}: {what}"
        return "none", ""


# -- in the place of cleave-run --

def outputs_in(folder):
    ret = []
    while os.path.exists(path := os.path.join(folder, f"output_{len(ret)}.pb")):
        tensor = onnx.TensorProto()
        with open(path, "rb") as f:
            tensor.ParseFromString(f.read())
        ret.append(numpy_helper.to_array(tensor))
    return ret


def is_off(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return True
    if want.dtype.kind != "f":
        return bool((got != want).any())
    if (np.isfinite(got) != np.isfinite(want)).any():
        return True
    fine = np.isfinite(want)
    got, want = got[fine].astype(np.float64), want[fine].astype(np.float64)
    size = np.maximum(np.abs(want), np.sqrt(np.mean(want ** 2)) if want.size else 0)
    return bool((np.abs(got - want) > VISIBLE * size).any())


def run_spoiled(runner, seed, log, args):
    folder, out = args[-1], args[args.index("-o") + 1]
    form = os.path.basename(folder)
    kind, what = Spoiler(folder, f"{seed} {form}").spoil()
    run = subprocess.run([runner, args[0], "--timeout", RUNS_S, *args[1:]], capture_output=True,
                         text=True, check=False)
    off = None
    if run.returncode == 0:
        whole = outputs_in(os.path.join(os.path.dirname(folder), "whole"))
        off = any(is_off(g, w) for g, w in zip(outputs_in(out), whole, strict=True))
    with open(log, "a", encoding="utf-8") as f:
        f.write(json.dumps({"form": form, "kind": kind, "what": what, "off": off}) + "\n")
    sys.stdout.write(run.stdout)
    sys.stderr.write(run.stderr)
    return run.returncode


RUNNER = """#!/bin/sh
for last; do :; done
test -d "$last" || exec '{runner}' "$@"
exec /usr/bin/python3 '{script}' --spoil '{runner}' {seed} '{log}' "$@"
"""


# -- the test --

class Judge:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.counts, self.wrong = collections.Counter(), []

    def verify(self, model, plan, runner):
        run = subprocess.run([self.args.cleave, "verify", "--json", "--seed", SEED, "--runner", runner,
                              model, plan], capture_output=True, text=True, check=False)
        try:
            return run.returncode, json.loads(run.stdout)
        except json.JSONDecodeError:
            return run.returncode, {"conclusion": run.stderr.strip(), "forms": []}

    def plan(self, model, seed, path):
        mesh, sizes = MESHES[seed % len(MESHES)], models.sizes_of(self.args.cleave, model)
        if mesh:
            models.call(self.args.lower_layouts, model, "--mesh", mesh, "--random", str(seed), "--out",
                        path, *sizes)
        else:
            bind = [x for size in sizes for x in ("--bind", size)]
            models.call(self.args.cleave, "plan", model, "--devices", "2", "--stages", "2", "--max-tp",
                        "1", "--deadline", "2", "--no-output", "--plan-out", path, "-q", *bind)

    def judge(self, model, seed):
        name = f"{os.path.basename(model)} seed {seed}"
        plan, log = os.path.join(self.folder, "plan.json"), os.path.join(self.folder, "log")
        spoiler = os.path.join(self.folder, "runner")
        try:
            self.plan(model, seed, plan)
        except RuntimeError as e:
            self.counts["no plan"] += 1
            if not self.args.right:
                self.wrong.append(f"{name}: {e}")
            return
        code, said = self.verify(model, plan, self.args.cleave_run)
        self.counts["right plans"] += 1
        if self.args.right:
            self.judge_right(name, code, said)
            return
        if code != 0 or said["verdict"] != "agrees":
            self.wrong.append(f"{name}: a right plan: {code} {said['conclusion']}")
            return
        with open(spoiler, "w", encoding="utf-8") as f:
            f.write(RUNNER.format(runner=self.args.cleave_run, script=os.path.abspath(__file__),
                                  seed=seed, log=log))
        os.chmod(spoiler, 0o755)
        open(log, "w", encoding="utf-8").close()
        code, said = self.verify(model, plan, spoiler)
        with open(log, encoding="utf-8") as f:
            faults = {fault["form"]: fault for fault in map(json.loads, f)}
        for form in said["forms"]:
            if form["form"] in faults:  # or it cannot be written
                self.count(name, faults[form["form"]], form)
        shows = [f["off"] for f in faults.values() if f["kind"] != "none"]
        expected = 4 if True in shows else 7 if None in shows else code
        if code != expected:
            self.wrong.append(f"{name}: exit code {code}, expected {expected}: {said['conclusion']}")

    def judge_right(self, name, code, said):
        """A model that does not run by itself, or a form that is refused, accuses nobody."""
        verdict = said.get("verdict", f"exit code {code}")
        if "original_fault" in said:  # of its random inputs: indices out of range, for example
            verdict = "the model itself does not run"
        self.counts[verdict] += 1
        if verdict not in ("agrees", "proven", "not_written", "the model itself does not run"):
            self.wrong.append(f"{name}: a right plan: {code} {said['conclusion']}")

    def count(self, name, fault, form):
        found = "first" in form
        what = (f"{name}: {fault['form']}: {fault['kind']}: {fault['what']}")
        if fault["kind"] == "none":
            self.counts["without a place for a fault"] += 1
            return
        outcome = ("does not run" if fault["off"] is None else "found" if found
                   else "missed" if fault["off"] else "without effect")
        self.counts[outcome] += 1
        self.counts["of kind " + fault["kind"]] += outcome == "found"
        if outcome == "missed" or (outcome == "does not run" and "fault" not in form):
            self.wrong.append(f"{what} is missed: {json.dumps(form)[:600]}")
        if self.args.show:
            print(f"{what}: {outcome}", flush=True)


def main():
    if len(sys.argv) > 5 and sys.argv[1] == "--spoil":
        return run_spoiled(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("cleave_run")
    p.add_argument("lower_layouts")
    p.add_argument("models", nargs="+")
    p.add_argument("--seeds", default="0:24")
    p.add_argument("--right", action="store_true")
    p.add_argument("--show", action="store_true")
    args = p.parse_args()
    paths = [os.path.join(m, f) if os.path.isdir(m) else m for m in args.models
             for f in (sorted(os.listdir(m)) if os.path.isdir(m) else [""])]
    first, last = map(int, args.seeds.split(":"))
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(args, folder)
        for seed in range(first, last):
            judge.judge(paths[seed % len(paths)], seed)
    for what, n in sorted(judge.counts.items()):
        print(f"{n:6d} {what}")
    print("\n".join(judge.wrong))
    faults = sum(judge.counts[k] for k in ("found", "missed", "without effect", "does not run"))
    if args.right:
        return 1 if judge.wrong else 0
    return 1 if judge.wrong or judge.counts["found"] * 3 < faults else 0


if __name__ == "__main__":
    sys.exit(main())
