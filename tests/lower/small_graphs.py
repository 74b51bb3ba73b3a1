#!/usr/bin/env python3
"""small_graphs.py - graphs of a few operators in every layout: what was lowered wrongly once, and sums.

Usage: small_graphs.py LOWER_LAYOUTS CLEAVE_RUN

random_graphs.py found the first, and each is shrunk to what it was about. Of the others there is one
for each operator that ops.def calls linear: parts of the sums of two products go through it, or
through two of it, and are added. They are written down as ONNX's backend tests are, with what the runtime computes of the whole as the expected outputs, and
conform.py judges them: side by side, and a model a device with collectives of either dialect.

covers: E.057
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from examples import call, check

OPSET = 17
FLOATS = np.random.default_rng(5).uniform(-1, 1, (4, 6)).astype(np.float32)


def node(op, ins, outs, **attrs):
    return helper.make_node(op, ins.split(), outs.split(), **attrs)


def table_of(dtype):
    """Rows by number out of a table of numbers of that type."""
    return {"nodes": [node("Cast", "x", "t", to=dtype), node("Gather", "t w", "r"),
                      node("Cast", "r", "y", to=TensorProto.FLOAT)],
            "inputs": {"x": np.abs(FLOATS) * 3}, "weights": {"w": np.array([3, 0, -2])}}


RNG = np.random.default_rng(7)
OPS_DEF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "graph", "ops.def")


def floats(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def sums(nodes, weights=None, inputs=None):
    """Products p and q of 4 x 6, and what is made of them."""
    return {"nodes": [node("MatMul", "x a", "p"), node("MatMul", "x b", "q"), *nodes],
            "inputs": {"x": FLOATS, **(inputs or {})},
            "weights": {"a": floats(6, 6), "b": floats(6, 6), **(weights or {})}}


def through(op, ins="{}", outs="{}2", weights=None, inputs=None, **attrs):
    """Two of the operator, and their outputs added."""
    first = outs.split()[0]
    return sums([node(op, ins.format(t), outs.format(t, t), **attrs) for t in "pq"] +
                [node("Add", f"{first.format('p')} {first.format('q')}", "y")], weights, inputs)


def reshaped(op, shape, **attrs):
    """The same, of products in another shape."""
    return sums([node("Reshape", f"{t} s", f"{t}1") for t in "pq"] +
                [node(op, f"{t}1", f"{t}2", **attrs) for t in "pq"] + [node("Add", "p2 q2", "y")],
                {"s": numbers(*shape)})


def numbers(*values):
    return np.array(values, np.int64)


ROWS = numbers(3, 0, 2)
CELLS = RNG.permuted(np.tile(np.arange(6), (4, 1)), axis=1)[:, :3].copy()

# By operator: it adds what it reads, or it stands in each of two ways.
LINEAR = {
    "Add": sums([node("Add", "p w", "r"), node("Add", "q r", "y")], {"w": floats(6)}),
    "Sub": sums([node("Sub", "p q", "y")]),
    "Sum": sums([node("Sum", "p w q", "y")], {"w": floats(1, 6)}),
    "Mean": sums([node("Mean", "p q", "y")]),
    "Concat": sums([node("Concat", "p w q", "y", axis=0)], {"w": floats(2, 6)}),
    "Where": sums([node("Where", "c p q", "y")], {"c": RNG.random((4, 6)) < 0.5}),
    "ScatterElements": sums([node("GatherElements", "q i", "u", axis=1),
                             node("ScatterElements", "p i u", "y", axis=1)], {"i": CELLS}),
    "ScatterND": sums([node("Gather", "q i", "u"), node("ScatterND", "p j u", "y")],
                      {"i": ROWS, "j": ROWS.reshape(3, 1)}),
    "ScatterND_add": sums([node("Gather", "q i", "u"),
                           node("ScatterND", "p j u", "y", reduction="add")],
                          {"i": ROWS, "j": ROWS.reshape(3, 1)}),
    "Mul": through("Mul", "{} w", inputs={"w": floats(4, 1)}),
    "Mul_second": through("Mul", "w {}", inputs={"w": floats(4, 6)}),
    "MatMul": through("MatMul", "{} w", inputs={"w": floats(6, 3)}),
    "MatMul_second": through("MatMul", "w {}", weights={"w": floats(5, 4)}),
    "Div": through("Div", "{} w", inputs={"w": np.abs(floats(4, 6)) + 1}),
    "Identity": through("Identity"),
    "Neg": through("Neg"),
    "Transpose": through("Transpose"),
    "Reshape": through("Reshape", "{} s", weights={"s": numbers(2, 2, 6)}),
    "Flatten": through("Flatten", axis=0),
    "Unsqueeze": through("Unsqueeze", "{} s", weights={"s": numbers(1)}),
    "Squeeze": reshaped("Squeeze", (1, 4, 6)),
    "Slice": through("Slice", "{} f t s", weights={"f": numbers(1), "t": numbers(5), "s": numbers(1)}),
    "Split": through("Split", outs="{}2 {}3", axis=1),
    "Gather": through("Gather", "{} i", weights={"i": ROWS}),
    "GatherElements": through("GatherElements", "{} i", weights={"i": CELLS}, axis=1),
    "GatherND": through("GatherND", "{} i", weights={"i": ROWS.reshape(3, 1)}),
    "Expand": through("Expand", "{} s", weights={"s": numbers(3, 4, 6)}),
    "Tile": through("Tile", "{} s", weights={"s": numbers(1, 2)}),
    "ReduceSum": through("ReduceSum", "{} s", weights={"s": numbers(1)}),
    "ReduceMean": through("ReduceMean", axes=[0]),
    "CumSum": through("CumSum", "{} s", weights={"s": np.array(0)}),
    "Trilu": reshaped("Trilu", (2, 2, 6)),
    "DepthToSpace": reshaped("DepthToSpace", (1, 4, 2, 3), blocksize=2),
    "SpaceToDepth": reshaped("SpaceToDepth", (1, 1, 4, 6), blocksize=2),
}
NO_LONGER = {"Scatter"}  # of operator sets before 11


def check_all_are_there():
    """Every line of ops.def with a flag of linearity has a case."""
    with open(OPS_DEF, encoding="utf-8") as f:
        flagged = set(re.findall(r"^CLV_OP\(STD, (\w+),.*CLV_OPF_(?:LINEAR|ADDITIVE|BILINEAR)\b",
                                 f.read(), re.M))
    cases = {name.split("_")[0] for name in LINEAR}
    check(flagged - NO_LONGER == cases, f"linear are {sorted(flagged)}, cases are of {sorted(cases)}")


def check_sums(lower_layouts, root):
    """In each case of a linear operator that is there parts of a sum go through it."""
    for name in LINEAR:
        path = os.path.join(root, "data", "node", f"sums_through_{name.lower()}", "model.onnx")
        lines = call(lower_layouts, path, "--mesh", "2", "--out", os.path.join(root, "lowered"))
        splits = {(line["type"], line["split"]) for line in map(json.loads, lines.splitlines())
                  if "split" in line}
        op, _, second = name.partition("_")
        want = f"tp=sum{'' if op not in ('Mul', 'MatMul') else 1 if second else 0}"
        check((op, want) in splits, f"{name}: no {want} in {sorted(splits)}")


CASES = {
    # Parts of sums.
    **{f"sums_through_{name.lower()}": case for name, case in LINEAR.items()},
    # Indices of one row of the data's, which are no broadcast.
    "elements_of_one_row": {"nodes": [node("GatherElements", "x i", "g", axis=1),
                                      node("ScatterElements", "x j g", "y", axis=1)],
                            "inputs": {"x": FLOATS},
                            "weights": {"i": np.array([[5, 0, 3]]), "j": np.array([[1, 2, 4]])}},
    # A 0 that stands for a dimension of which the device has a part, and gives a part of another.
    "zero_in_a_shape": {"nodes": [node("Reshape", "x t", "y")],
                        "inputs": {"x": FLOATS.reshape(6, 2, 2)},
                        "weights": {"t": np.array([12, 0])}},
    # The sum of a part may have no logarithm where that of all has one.
    "logarithm_of_a_sum": {"nodes": [node("ReduceLogSum", "x", "y", axes=[1])],
                           "inputs": {"x": np.array([[-1, -1, -1, 2, 2, 2], [3, 3, -1, -1, -1, -1]],
                                                    np.float32)}, "weights": {}},
    # Parts of a tensor without elements, of a dimension that is seen as two.
    "nothing_repeated": {"nodes": [node("Tile", "x r", "y")],
                         "inputs": {"x": FLOATS[:, :0].reshape(1, 4, 0)},
                         "weights": {"r": np.array([1, 2, 1])}},
    # Types that the runtime has no Where for, which chooses the device's own rows.
    **{f"table_of_{TensorProto.DataType.Name(t).lower()}": table_of(t)
       for t in (TensorProto.BOOL, TensorProto.INT8, TensorProto.UINT16, TensorProto.UINT32,
                 TensorProto.UINT64, TensorProto.FLOAT16, TensorProto.BFLOAT16)},
}


def write(runner, case, folder):
    """The folder of a test: model, inputs, and outputs as the runtime computes them."""
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data)
    inputs, path = case["inputs"], os.path.join(folder, "model.onnx")
    types = {n: helper.make_tensor_value_info(n, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[v.dtype], v.shape)
             for n, v in inputs.items()}
    outputs = [onnx.ValueInfoProto(name="y")]
    graph = helper.make_graph(case["nodes"], "small", list(types.values()), outputs,
                              [numpy_helper.from_array(v, n)
                               for n, v in case.get("weights", {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    onnx.save(onnx.shape_inference.infer_shapes(model, True, True, True), path)
    for i, (name, v) in enumerate(inputs.items()):
        with open(os.path.join(data, f"input_{i}.pb"), "wb") as f:
            f.write(numpy_helper.from_array(v, name).SerializeToString())
    given = os.path.join(folder, "given")
    os.rename(data, given)
    call(runner, "run", path, "-i", given, "-o", data, "-q")
    for name in os.listdir(given):
        os.rename(os.path.join(given, name), os.path.join(data, name))
    os.rmdir(given)


def main():
    lower_layouts, runner = sys.argv[1:3]
    conform = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conform.py")
    with tempfile.TemporaryDirectory() as root:
        for name, case in CASES.items():
            write(runner, case, os.path.join(root, "data", "node", name))
        check_all_are_there()
        check_sums(lower_layouts, root)
        for kind in ("simple", "pytorch-operator", "pytorch-converted"):
            os.mkdir(os.path.join(root, "data", kind))
        for how in ([], ["--collectives", "ort"], ["--collectives", "tensorrt"]):
            run = subprocess.run([sys.executable, conform, lower_layouts, runner, root, *how, "--mesh",
                                  "2", "--mesh", "3", "--mesh", "2x2"], capture_output=True, text=True,
                                 check=False)
            print(run.stdout, end="")
            check(run.returncode == 0 and f"{len(CASES)} run as expected whole" in run.stdout,
                  f"{' '.join(how)} {run.stdout}{run.stderr}")


if __name__ == "__main__":
    main()
