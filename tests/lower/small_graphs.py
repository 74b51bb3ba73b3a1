#!/usr/bin/env python3
"""small_graphs.py - graphs of a few operators that were lowered wrongly once, in every layout.

Usage: small_graphs.py LOWER_LAYOUTS CLEAVE_RUN

random_graphs.py found them, and each is shrunk to what it was about. They are written down as ONNX's
backend tests are, with what the runtime computes of the whole as the expected outputs, and
conform.py judges them: side by side, and a model a device with collectives of either dialect.

covers: E.057
"""
import os
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


CASES = {
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
