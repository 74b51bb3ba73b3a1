#!/usr/bin/env python3
"""exchanges.py - a tensor brought from one layout to another by collectives: which, and what comes out.

Usage: exchanges.py CLEAVE CLEAVE_RUN LOWER_LAYOUTS [--every N]

Two operators behind each other, each split in all ways that its rule admits, on meshes of one and two
axes, with sizes that they divide and sizes that they do not, lowered for both dialects and run by
cleave-run: the numbers have to be those of the whole. Where an axis goes from one dimension or factor
to another, and all parts are equal, one all-to-all has to do it, and where they are not, none may.
Parts of sums and of other reductions that are scattered have to be so by one reduce-scatter, or, where
the dialect does not have it, by one all-to-all. --every: on two axes only every Nth pair.

covers: C.035 E.057
"""
import argparse
import collections
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper

from examples import call, check, model_of, plan_of

DIALECTS = ("ort", "tensorrt")
MESHES = {"2": [("tp", 2)], "3": [("tp", 3)], "2x2": [("dp", 2), ("tp", 2)],
          "3x2": [("dp", 3), ("tp", 2)]}


class Chain:
    """Neg, Reshape and Relu of x, from one shape to another."""

    def __init__(self, name, dims, to=None, first=False):
        self.name, self.dims = name, dims
        self.even = all(d % 6 == 0 for d in dims)
        self.value = np.random.default_rng(3).standard_normal(dims).astype(np.float32)
        self.nodes, self.weights = [], {}
        if to is None:
            self.nodes = [helper.make_node("Neg", ["x"], ["h"], "a"),
                          helper.make_node("Relu", ["h"], ["y"], "b")]
            self.want = np.maximum(-self.value, 0)
        else:
            self.weights["shape"] = np.array(to, np.int64)
            self.want = np.maximum(self.value.reshape(to), 0)
            ins = (["h", "shape"], ["x"]) if first else (["x", "shape"], ["h"])
            self.nodes = [helper.make_node("Reshape", ins[0], ["y" if first else "h"], "r"),
                          helper.make_node("Relu", ins[1], ["h" if first else "y"], "f")]
            if first:
                self.nodes.reverse()


CHAINS = [Chain("even", (6, 12, 18)), Chain("uneven", (7, 12, 5)),
          Chain("merged", (6, 12, 18), (72, 18)), Chain("parted", (72, 18), (6, 12, 18), True),
          Chain("merged uneven", (6, 7, 5), (42, 5)), Chain("parted uneven", (42, 5), (6, 7, 5), True)]


def splits_of(lower_layouts, model, mesh, folder):
    """By operator, all ways to split it."""
    ways = collections.defaultdict(list)
    reported = call(lower_layouts, model, "--mesh", mesh, "--out", os.path.join(folder, "emulated"))
    for one in map(json.loads, reported.splitlines()):
        if "=" in one["split"]:  # of one operator
            ways[one["op"]].append(one["split"])
    return list(ways.values())


# What the nodes of each kind are in a file.
NODES = {"ort": {"all-to-all": "AllToAll", "all-gather": "AllGather", "all-reduce": "AllReduce"},
         "tensorrt": {k: k.replace("-", "_")
                      for k in ("all-to-all", "all-gather", "all-reduce", "reduce-scatter")}}


def dims_of(value):
    return [d.dim_value for d in value.type.tensor_type.shape.dim]


def words_in(path, groups):
    """By name, what the collectives of a file are. The type that is reported of what each gives has to be
    the one that follows from what it gets, which ONNX infers."""
    words = {}
    model = onnx.load(path, load_external_data=False)
    reported = {v.name: dims_of(v) for v in model.graph.value_info}
    graph = onnx.shape_inference.infer_shapes(model).graph
    known = {v.name: dims_of(v) for v in [*graph.value_info, *graph.input, *graph.output]}
    for n in model.graph.node:
        attrs = {a.name: helper.get_attribute_value(a) for a in n.attribute}
        if n.domain == "com.microsoft":
            words[n.name] = n.op_type
        elif n.op_type == "DistCollective":
            words[n.name] = attrs["collective_operation"].decode()
        else:
            continue
        dims, word = list(known.get(n.input[0], [])), words[n.name]
        if not all(dims) or len(dims) != len(reported[n.output[0]]):
            continue  # it is made after another collective, and its shape computed of that
        if word in (NODES["ort"]["all-gather"], NODES["tensorrt"]["all-gather"]):
            dims[attrs.get("axis", 0)] *= groups[n.name]
        elif word == NODES["tensorrt"]["reduce-scatter"]:
            dims[0] //= groups[n.name]
        check(reported.get(n.output[0]) == dims, f"{path}: {n.name} gives {dims}, but is said to give "
              f"{reported.get(n.output[0])}")
    return words


class Judge:
    def __init__(self, cleave, runner, folder):
        self.cleave, self.runner, self.folder = cleave, runner, folder
        self.entries, self.counts = [], collections.Counter()

    def lower(self, f, dialect, what):
        """The collectives by the manifest, which are those of each file; it will be run."""
        out = os.path.join(self.folder, f"{len(self.entries)}.lowered")
        call(self.cleave, "lower", f.model, f.plan, "--form", "devices", "--collectives", dialect,
             "-o", out, "-q")
        self.entries.append({"id": what, "model": out, "inputs": {"x": f.x}, "outputs": {"y": f.y},
                             "rtol": 1e-5, "atol": 1e-5})
        with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        reported = manifest["collectives"]
        self.counts[" ".join(c["kind"] for c in reported)] += 1
        says = {c["node"]: NODES[dialect][c["kind"]] for c in reported}
        groups = {c["node"]: len(c["groups"][0]) for c in reported}
        for m in manifest["models"]:
            words = words_in(os.path.join(out, m["file"]), groups)
            check(words == says, f"{what}: {m['file']} has {words}, the manifest {says}")
        return [(c["kind"], c["groups"]) for c in reported]

    def run(self):
        path = os.path.join(self.folder, "batch.jsonl")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(e) + "\n" for e in self.entries)
        run = subprocess.run([self.runner, "batch", "--jobs", str(os.cpu_count()), path],
                             capture_output=True, text=True, check=False)
        reported = [json.loads(line) for line in run.stdout.splitlines()]
        wrong = [t for t in reported if t["outcome"] != "equal"]
        check(len(reported) == len(self.entries) and not wrong, f"{len(wrong)} of {len(reported)} runs of "
              f"{len(self.entries)} differ: {wrong[:3]} {run.stderr[-300:]}")


# One step on two axes: mesh, splits of both operators, the collectives that it has to be.
TWO_AXES = [
    ("2x2", "dp=d0 tp=d1", "dp=d0 tp=d2", [("all-to-all", [[0, 1], [2, 3]])]),
    ("2x2", "dp=d1 tp=d0", "dp=d2 tp=d0", [("all-to-all", [[0, 2], [1, 3]])]),
    ("3x2", "dp=d0", "dp=d1", [("all-to-all", [[0, 2, 4], [1, 3, 5]])]),
    ("3x2", "dp=d0 tp=d0", "dp=d0 tp=d1", [("all-to-all", [[0, 1], [2, 3], [4, 5]])]),
    ("3x2", "dp=d0 tp=d0", "dp=d1 tp=d1", [("all-to-all", [[0, 1, 2, 3, 4, 5]])]),
    ("2x2", "dp=d0 tp=d2", "dp=d1 tp=d1", [("all-to-all", [[0, 1, 2, 3]])]),
    ("3x2", "dp=d0 tp=d0", "dp=d1 tp=d2", [("all-to-all", [[0, 1, 2, 3, 4, 5]])]),
    # the outer of two axes leaves what is split within it
    ("2x2", "dp=d0 tp=d0", "dp=d1 tp=d0", [("all-gather", [[0, 1], [2, 3]]),
                                           ("all-gather", [[0, 2], [1, 3]])]),
]

# A product that is a sum over axes, and where the plan scatters it: mesh, split, layouts.
SCATTERED = [
    ("2", "tp=k", "{-, -} sum(tp)", "{tp, -}", [[0, 1]]),
    ("3", "tp=k", "{-, -} sum(tp)", "{-, tp}", [[0, 1, 2]]),
    ("2x2", "dp=m tp=k", "{dp, -} sum(tp)", "{dp.tp, -}", [[0, 1], [2, 3]]),
    ("3x2", "dp=k tp=m", "{tp, -} sum(dp)", "{tp, dp}", [[0, 2, 4], [1, 3, 5]]),
    ("3x2", "dp=k tp=k", "{-, -} sum(dp, tp)", "{-, dp.tp}", [[0, 1, 2, 3, 4, 5]]),
    ("3x2", "dp=k tp=k", "{-, -} sum(dp, tp)", "{tp.dp, -}", [[0, 1, 2, 3, 4, 5]]),
]

RANK_MAX = 64  # of a tensor that is read
REDUCED = [
    ("Mean", "mean", lambda x: x.mean(0)), ("Max", "max", lambda x: x.max(0)),
    ("Min", "min", lambda x: x.min(0)), ("Prod", "prod", lambda x: x.prod(0)),
    ("L2", "l2", lambda x: np.sqrt((x * x).sum(0))),
    ("LogSumExp", "log-sum", lambda x: np.log(np.exp(x).sum(0))),
]


class Files:
    """A model, an input, what the whole gives, and a plan on a mesh."""

    def __init__(self, judge, name, nodes, value, want, weights):
        stem = os.path.join(judge.folder, name.replace(" ", "_"))
        self.model, self.plan = stem + ".onnx", stem + ".json"
        self.x, self.y = stem + ".x.npy", stem + ".y.npy"
        model_of(nodes, [("x", value.shape)], ("y", want.shape), weights, self.model)
        np.save(self.x, value)
        np.save(self.y, want)


def planned(judge, f, mesh, splits, collectives=()):
    axes = MESHES[mesh]
    plan_of(judge.cleave, f.model, f.plan, axes, list(range(np.prod([n for _, n in axes]))), splits,
            collectives)


def pairs(judge, lower_layouts, every):
    for chain in CHAINS:
        f = Files(judge, chain.name, chain.nodes, chain.value, chain.want, chain.weights)
        for mesh, axes in MESHES.items():
            planned(judge, f, mesh, ["", ""])
            with open(f.plan, encoding="utf-8") as file:
                made = json.load(file)
            ways = splits_of(lower_layouts, f.model, mesh, judge.folder)
            of = list(itertools.product(ways[0], ways[1]))
            for a, b in of[::every if len(axes) > 1 else 1]:
                made["operators"]["split_runs"] = [[a, 1], [b, 1]]
                with open(f.plan, "w", encoding="utf-8") as file:
                    json.dump(made, file)
                for dialect in DIALECTS:
                    what = f"{chain.name} on {mesh}, {a} to {b}, {dialect}"
                    kinds = [kind for kind, _ in judge.lower(f, dialect, what)]
                    if len(axes) == 1 and kinds:
                        says = ["all-to-all" if chain.even else "all-gather"]
                        check(kinds == says, f"{what}: {kinds}, expected {says}")


def on_two_axes(judge):
    chain = CHAINS[0]
    f = Files(judge, "two axes", chain.nodes, chain.value, chain.want, {})
    for mesh, a, b, says in TWO_AXES:
        planned(judge, f, mesh, [a, b])
        for dialect in DIALECTS:
            what = f"{a} to {b} on {mesh}, {dialect}"
            got = judge.lower(f, dialect, what)
            check(got == says, f"{what}: {got}, expected {says}")


def scattered(judge):
    rng = np.random.default_rng(4)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in ((12, 6), (6, 18)))
    f = Files(judge, "product", [helper.make_node("MatMul", ["x", "w"], ["y"], "p")], x, x @ w,
              {"w": w})
    for mesh, split, before, after, groups in SCATTERED:
        sums = before[before.index("(") + 1:-1].replace(" ", "")
        planned(judge, f, mesh, [split],
                [{"kind": "reduce-scatter", "axes": sums, "stage": 0, "tensor": "y", "from": before,
                  "to": after, "bytes": 0, "ns": 0}])
        for dialect in DIALECTS:
            what = f"{before} to {after} on {mesh}, {dialect}"
            got = judge.lower(f, dialect, what)
            kind = "reduce-scatter" if dialect == "tensorrt" else "all-to-all"
            check(got == [(kind, groups)], f"{what}: {got}, expected {kind} of {groups}")


def reduced(judge):
    """The other reductions: an all-to-all where the dialect has no such reduce-scatter."""
    x = np.random.default_rng(5).uniform(0.5, 1.5, (6, 6, 4)).astype(np.float32)
    for op, reduction, compute in REDUCED:
        node = helper.make_node("Reduce" + op, ["x"], ["y"], "r", axes=[0], keepdims=0)
        f = Files(judge, op, [node], x, compute(x), {})
        for mesh in ("2", "3"):
            before, after = f"{{-, -}} {reduction}(tp)", "{tp, -}"
            planned(judge, f, mesh, ["tp=a0"],
                    [{"kind": "reduce-scatter", "axes": "tp", "stage": 0, "tensor": "y",
                      "from": before, "to": after, "bytes": 0, "ns": 0}])
            for dialect in DIALECTS:
                what = f"{before} to {after} on {mesh}, {dialect}"
                kinds = [kind for kind, _ in judge.lower(f, dialect, what)]
                has = dialect == "tensorrt" and reduction in ("mean", "max", "min", "prod")
                says = ["reduce-scatter" if has else "all-to-all"]
                check(kinds == says, f"{what}: {kinds}, expected {says}")


def beside_an_idle_device(judge):
    """Of four rows the third device has none, and computes no loss, which the runtime takes apart into
    nodes of its own: both gathers have to come in one order nevertheless."""
    x = np.random.default_rng(7).standard_normal((4, 11)).astype(np.float32)
    labels = np.array([3, 10, 0, 5])
    nodes = [helper.make_node("Abs", ["x"], ["a"], "a"),
             helper.make_node("SoftmaxCrossEntropyLoss", ["a", "labels"], ["y"], "l",
                              reduction="none"),
             helper.make_node("ArgMax", ["a"], ["m"], "m", axis=1, keepdims=1)]
    odds = np.exp(np.abs(x))
    want = -np.log(odds[range(4), labels] / odds.sum(1)).astype(np.float32)
    f = Files(judge, "idle", nodes, x, want, {"labels": labels})
    model, most = onnx.load(f.model), os.path.join(judge.folder, "idle.m.npy")
    model.graph.output.append(helper.make_tensor_value_info("m", onnx.TensorProto.INT64, (4, 1)))
    onnx.save(model, f.model)
    np.save(most, np.abs(x).argmax(1)[:, None])
    planned(judge, f, "3", ["tp=d1", "tp=n", "tp=a0"])
    for dialect in DIALECTS:
        judge.lower(f, dialect, f"beside an idle device, {dialect}")
        judge.entries[-1]["outputs"]["m"] = most


def of_an_old_opset(judge):
    """Beside an idle device too: nodes as they were at opset 5, when types were not yet numbers."""
    model, plan = (os.path.join(judge.folder, "old" + end) for end in (".onnx", ".json"))
    model_of([helper.make_node("Clip", ["x"], ["a"], "a", min=0.0, max=9.0),
              helper.make_node("ReduceMax", ["a"], ["p"], "p", axes=[0]),
              helper.make_node("ReduceMin", ["a"], ["q"], "q", axes=[0]),
              helper.make_node("Add", ["p", "q"], ["y"], "y")], [("x", [4, 3])], ("y", [1, 3]), {},
             model)
    made = onnx.load(model)
    made.opset_import[0].version = 5
    onnx.save(made, model)
    plan_of(judge.cleave, model, plan, MESHES["3"], [0, 1, 2], ["tp=d0", "tp=a0", "tp=a0", ""])
    for dialect in DIALECTS:
        out = os.path.join(judge.folder, "old." + dialect)
        call(judge.cleave, "lower", model, plan, "--form", "devices", "--collectives", dialect, "-o",
             out, "-q")
        made = onnx.load(os.path.join(out, "d2.onnx"))
        context = onnx.checker.C.CheckerContext()
        context.ir_version = made.ir_version
        context.opset_imports = {o.domain: o.version for o in made.opset_import}
        check(context.opset_imports[""] == 5, "the opset was left as it is")
        for n in made.graph.node:
            if n.domain == "" and n.op_type != "DistCollective":
                onnx.checker.check_node(n, context)


def of_highest_rank(judge):
    """A collective sees a tensor with further dimensions, and it has as many as are taken already.
    Nothing here runs so many."""
    model, plan = (os.path.join(judge.folder, "rank" + end) for end in (".onnx", ".json"))
    dims, d = [1] * (RANK_MAX - 2) + [6, 4], RANK_MAX - 2
    model_of([helper.make_node("ReduceMax", ["x"], ["y"], "r", axes=[d])], [("x", dims)],
             ("y", dims[:d] + [1, 4]), {}, model)
    plan_of(judge.cleave, model, plan, MESHES["2"], [0, 1], [f"tp=a{d}"])
    for dialect in DIALECTS:
        call(judge.cleave, "lower", model, plan, "--form", "devices", "--collectives", dialect, "-o",
             os.path.join(judge.folder, "rank." + dialect), "-q")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("cleave_run")
    p.add_argument("lower_layouts")
    p.add_argument("--every", type=int, default=1)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(a.cleave, a.cleave_run, folder)
        on_two_axes(judge)
        scattered(judge)
        reduced(judge)
        beside_an_idle_device(judge)
        of_an_old_opset(judge)
        of_highest_rank(judge)
        pairs(judge, a.lower_layouts, a.every)
        judge.run()
        for kinds, n in sorted(judge.counts.items()):
            print(f"{n:7d} {kinds or 'nothing is sent'}")


if __name__ == "__main__":
    main()
