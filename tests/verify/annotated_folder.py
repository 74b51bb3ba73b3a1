#!/usr/bin/env python3
"""annotated_folder.py - an annotated model and the folder that was lowered of the same plan go together, also where
specs do not say all of the plan; what the metadata says beyond specs is held against them.

Usage: annotated_folder.py CLEAVE ROOT
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CLEAVE, ROOT = map(os.path.abspath, sys.argv[1:])
REPEATED = ("collectives", "found", "partial_sums", "uneven_parts")
NESTED = [["dp=n tp=n", 1], ["dp=d1 tp=d1", 1]]
failed = []


def cleave(*args):
    r = subprocess.run([CLEAVE, *args], capture_output=True, text=True)
    return r.returncode, r.stderr.strip()


def expect(what, got, code, words=""):
    if got[0] != code or words not in got[1]:
        failed.append(what)
        print(f"{what}: {got[0]}, '{got[1]}', expected {code} and '{words}'")


def write_model():
    """13 columns, which two axes of two cut into 4, 3, 3, 3."""
    weight = numpy_helper.from_array(numpy.ones((6, 13), numpy.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="up"), helper.make_node("Relu", ["h"], ["y"], name="act")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 6])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 13])], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "u.onnx")


def make(plan):
    """The annotated model and the folder of a plan."""
    with open("q.json", "w") as f:
        json.dump(plan, f)
    subprocess.run(["rm", "-rf", "f", "a.onnx"], check=True)
    expect("annotate", cleave("annotate", "-q", "--plan", "q.json", "-o", "a.onnx", "u.onnx"), 0)
    expect("lower", cleave("lower", "-q", "--form", "devices", "-o", "f", "u.onnx", "q.json"), 0)


def verify(*given):
    return cleave("verify", "-q", "--proof-only", *given)


def check_plans(base):
    def nested(plan):
        plan["operators"]["split_runs"] = NESTED

    def shares(plan):
        nested(plan)
        plan["mesh"]["axes"][0]["shares"] = [1, 2]

    def shares_of_one_axis(plan):
        plan["mesh"]["axes"] = [{"name": "tp", "size": 4, "shares": [1, 2, 3, 4]}]
        plan["operators"]["split_runs"] = [["tp=n", 1], ["tp=d1", 1]]

    def another_order(plan):
        nested(plan)
        plan["mesh"]["devices"] = [[1, 0, 3, 2]]
        plan["operators"]["device_runs"] = [[1, 2]]

    folders = {}
    for edit in (nested, shares, shares_of_one_axis, another_order):
        plan = copy.deepcopy(base)
        edit(plan)
        make(plan)
        name = edit.__name__
        expect(name, verify("u.onnx", "a.onnx"), 0)
        expect(f"{name}: its folder", verify("u.onnx", "a.onnx", "f"), 0)
        os.rename("f", name)
        folders[name] = name
        for other in folders:
            if other != name:
                expect(f"{name}: the folder of {other}", verify("u.onnx", "a.onnx", other), 4)


def check_metadata(base):
    """Each entry of the metadata, edited."""
    plan = copy.deepcopy(base)
    plan["operators"]["split_runs"] = NESTED
    make(plan)
    for key, old, new, words in (
            ("cleave.uneven", "4, 3, 3, 3", "4, 4, 4, 1", "'w' in 4, 4, 4, 1, but by its splits the parts are 4, 3, 3, 3"),
            ("cleave.uneven", '"w"', '"v"', "'v' in 4, 3, 3, 3"),
            ("cleave.uneven", "[{", "{", "cleave.uneven"),
            ("cleave.mesh", "[0, 1, 2, 3]", "[0, 1, 3, 2]", "no split of operator 'up' (MatMul) over 4 devices"),
            ("cleave.mesh", "[[0, 1, 2, 3]]", "[[0, 1, 2, 7]]", "cleave.mesh: mesh.devices[0][3]"),
            ("cleave.mesh", '"size":2', '"size":1', "cleave.mesh: mesh.devices[0]: has 4 devices, expected 1"),
            ("cleave.mesh", '"dp","size":2', '"dp","size":4', "cleave.mesh: mesh.axes: make a mesh of more than"),
            ("cleave.mesh", '"name":"dp"', '"name":"tp"', "two axes of the mesh are named 'tp'")):
        model = onnx.load("a.onnx")
        for entry in model.metadata_props:
            if entry.key == key:
                entry.value = entry.value.replace(old, new)
        onnx.save(model, "edited.onnx")
        expect(f"{key}: {old} is {new}", verify("u.onnx", "edited.onnx"), 65, words)


def check_models():
    """Real models, whose partial sums wait for others."""
    for name in ("dlrm", "mixtral_prefill"):
        model = os.path.join(ROOT, "tests/data/runnable", f"{name}.static.onnx")
        for mesh in ("tp=2", "dp=2xtp=2"):
            subprocess.run(["rm", "-rf", "f"], check=True)
            expect(name, cleave("plan", "-q", "--mesh", mesh, "-o", "a.onnx", "--plan-out", "p.json", model), 0)
            expect(name, cleave("lower", "-q", "--form", "devices", "-o", "f", model, "p.json"), 0)
            expect(f"{name} over {mesh}", verify(model, "a.onnx", "f"), 0)


def check_data_parallel():
    """Seven rows of an input lie in two parts, of four and three, and are read in four: no spec says how they lie."""
    weight = numpy_helper.from_array(numpy.ones((6, 13), numpy.float32), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], name="up")], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [7, 6])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [7, 13])], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "d.onnx")
    with open("rules.json", "w") as f:
        json.dump({"rules": [{"split": "up", "factor": "m", "over": axis} for axis in ("dp", "tp")]}, f)
    subprocess.run(["rm", "-rf", "f"], check=True)
    expect("data parallel", cleave("plan", "-q", "--mesh", "2x2", "--data-parallel", "--constraints", "rules.json",
                                   "-o", "a.onnx", "--plan-out", "p.json", "d.onnx"), 0)
    with open("p.json") as f:
        parts = {part["tensor"]: part["sizes"] for part in json.load(f)["uneven_parts"]}
    if parts["x"] != "4, 3" or parts["y"] != "2, 2, 2, 1":
        failed.append("parts")
        print(f"data parallel: the parts are {parts}")
    expect("data parallel: annotated", verify("d.onnx", "a.onnx"), 0)
    expect("data parallel: lowered", cleave("lower", "-q", "--form", "devices", "-o", "f", "d.onnx", "p.json"), 0)
    expect("data parallel: its folder", verify("d.onnx", "a.onnx", "f"), 0)


def check_training():
    """Which operators are of the backward pass stands in the plan alone."""
    weights = [numpy_helper.from_array(numpy.ones((64, 64), numpy.float32), n) for n in ("w", "v", "u", "t")]
    nodes = [helper.make_node("MatMul", [a, w], [b], name=b)
             for a, w, b in (("x", "w", "h"), ("h", "v", "y"), ("dy", "u", "dh"), ("dh", "t", "dx"))]
    nodes.insert(3, helper.make_node("Mul", ["dh", "h"], ["g"], name="g"))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, TensorProto.FLOAT, [64, 64]) for n in ("x", "dy")],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, [64, 64]) for n in ("y", "g", "dx")],
                              weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "t.onnx")
    subprocess.run(["rm", "-rf", "f"], check=True)
    expect("training", cleave("plan", "-q", "--devices", "2", "--max-tp", "1", "--objective", "throughput", "--backward",
                              "dh", "-o", "a.onnx", "--plan-out", "p.json", "t.onnx"), 0)
    expect("training", cleave("lower", "-q", "--form", "stages", "-o", "f", "t.onnx", "p.json"), 0)
    expect("training: its folder", verify("t.onnx", "a.onnx", "f"), 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_model()
        expect("plan", cleave("plan", "-q", "--mesh", "dp=2xtp=2", "--devices", "4", "--no-output", "--plan-out", "p.json",
                              "u.onnx"), 0)
        with open("p.json") as f:
            base = {k: v for k, v in json.load(f).items() if k not in REPEATED}
        check_plans(base)
        check_metadata(base)
        check_models()
        check_data_parallel()
        check_training()
        os.chdir("/")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
