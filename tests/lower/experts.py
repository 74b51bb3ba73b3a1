#!/usr/bin/env python3
"""experts.py - experts that are written out one by one need one sum a layer.

Usage: experts.py CLEAVE CLEAVE_RUN

Each expert is a gated product up and a product down; what it gives is scaled by the router and added to
what the others gave. Planned over a mesh of two and of two by two, with the inner dimension of the
experts split, the parts of all experts are added up before they are reduced: a plan has as many
reductions as layers, not as experts. What is made of it computes what the model computes, which
'cleave verify' shows by its proof and by running all of it; and so does what is made of the annotated
model, where no spec can say that a sum waits.

A result that is added to parts of a sum is there on the first device alone: the others have zeros, so
other nodes. All come to their collectives in the same order all the same.
"""
import json
import math
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from examples import call, check

LAYERS, EXPERTS, TOKENS, HIDDEN, INNER = 2, 4, 16, 32, 512
REDUCTIONS = ("all-reduce", "reduce-scatter")


class Model:
    def __init__(self):
        self.nodes, self.weights, self.rng = [], [], np.random.default_rng(3)

    def add(self, op, ins, out, **attrs):
        self.nodes.append(helper.make_node(op, ins, [out], out, **attrs))
        return out

    def weight(self, name, *shape):
        values = self.rng.standard_normal(shape).astype(np.float32) / np.sqrt(shape[0])
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def expert(self, x, scores, name, number):
        gate = self.add("MatMul", [x, self.weight(name + "_w1", HIDDEN, INNER)], name + "_gate")
        up = self.add("MatMul", [x, self.weight(name + "_w3", HIDDEN, INNER)], name + "_up")
        act = self.add("Mul", [self.add("Sigmoid", [gate], name + "_sig"), up], name + "_act")
        down = self.add("MatMul", [act, self.weight(name + "_w2", INNER, HIDDEN)], name + "_down")
        index = name + "_index"
        self.weights.append(numpy_helper.from_array(np.array([number]), index))
        score = self.add("Gather", [scores, index], name + "_score", axis=1)
        return self.add("Mul", [down, score], name + "_out")

    def layer(self, x, number):
        name = f"l{number}"
        logits = self.add("MatMul", [x, self.weight(name + "_router", HIDDEN, EXPERTS)], name + "_logits")
        scores = self.add("Softmax", [logits], name + "_scores", axis=-1)
        total = None
        for e in range(EXPERTS):
            out = self.expert(x, scores, f"{name}_e{e}", e)
            total = out if total is None else self.add("Add", [total, out], f"{name}_sum{e}")
        return self.add("Relu", [self.add("Add", [x, total], name + "_res")], name + "_y")

    def layers(self):
        x = "x"
        for number in range(LAYERS):
            x = self.layer(x, number)
        return x

    def product(self, x, name):
        return self.add("MatMul", [x, self.weight(name + "_w", HIDDEN, HIDDEN)], name)

    def addend(self):
        """Of one token: what is made of p is added to parts of u, which wait for q, and read as it is."""
        p, q, v = (self.product("x", name) for name in "pqv")
        p = self.add("Softmax", [p], "p_all", axis=-1)
        q = self.add("Softmax", [q], "q_all", axis=-1)
        total = self.add("Add", [self.product(q, "u"), p], "sum0")
        return self.add("Max", [self.add("Add", [total, v], "sum1"), p], "y")

    def save(self, path, y, tokens):
        shape = [tokens, HIDDEN]
        graph = helper.make_graph(self.nodes, "experts",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(y, TensorProto.FLOAT, shape)],
                                  self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.save(model, path)


def rules_of(path, *rules):
    """The last axis splits these, by their factors."""
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"rules": [{"split": split, "factor": factor, "over": "tp"} for split, factor in rules]}, f)


def check_mesh(cleave, runner, model, rules, mesh, folder):
    """The tensors that are reduced, where all is computed as in the model."""
    plan, annotated = (os.path.join(folder, mesh + end) for end in (".json", ".onnx"))
    n = math.prod(int(size) for size in mesh.split("x"))
    call(cleave, "plan", model, "--mesh", mesh, "--devices", str(n), "--constraints", rules, "-o", annotated,
         "-q", "--plan-out", plan)
    with open(plan, encoding="utf-8") as f:
        made = json.load(f)
    for what in (plan, annotated):
        call(cleave, "verify", model, what, "--runner", runner, "-q")
    reduced = [c["tensor"] for c in made["collectives"] if c["kind"] in REDUCTIONS]
    return reduced, [c["tensor"] for c in made["collectives"] if c["kind"] == "neutral"]


def main():
    cleave, runner = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        model, rules = os.path.join(folder, "experts.onnx"), os.path.join(folder, "rules.json")
        experts = Model()
        experts.save(model, experts.layers(), TOKENS)
        rules_of(rules, ("*_down", "k"))
        for mesh in ("2", "2x2"):
            found = check_mesh(cleave, runner, model, rules, mesh, folder)
            want = [f"l{n}_sum{EXPERTS - 1}" for n in range(LAYERS)], []
            check(found == want, f"mesh {mesh} reduces {found}, expected {want}")
        addend = Model()
        addend.save(model, addend.addend(), 1)
        rules_of(rules, *((name, "k") for name in "pquv"), ("sum*", "sum"))
        found = check_mesh(cleave, runner, model, rules, "2", folder)
        want = ["p", "q", "sum1"], ["p_all"]
        check(found == want, f"reduced and neutral are {found}, expected {want}")
    print(f"{EXPERTS} experts in each of {LAYERS} layers have one sum a layer")


if __name__ == "__main__":
    main()
