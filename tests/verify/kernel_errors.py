#!/usr/bin/env python3
"""kernel_errors.py - how far the runtime's saturating functions are from their exact values.

Usage: kernel_errors.py CLEAVE_RUN ERROR_GROWTH_H

Near its limits a Sigmoid of float32 is a constant plus or minus a rational function: its error does
not shrink with its value, and what is 1e-7 may come out as 0. error_growth.h has these errors, in
units of 2^-24, as CLV_ERROR_OF_SIGMOID and so on; here the runtime computes each of them for 1.3
million arguments, or rows of 1000 for Softmax, and is held against float64. Exit 1 where an error is
larger than the header says, or less than half of it, so that the bound is not wider than it need be.
"""
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper

UNIT = 2.0 ** -24


def computed(runner, folder, op, x):
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", 1, list(x.shape))],
                              [helper.make_tensor_value_info("y", 1, None)])
    model, values = os.path.join(folder, "m.onnx"), os.path.join(folder, "x.npy")
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)]), model)
    np.save(values, x)
    subprocess.run([runner, "run", model, "--inputs", f"x={values}", "-o", folder, "--format", "npy",
                    "-q"], check=True)
    return np.load(os.path.join(folder, "output_0.npy")).astype(np.float64)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def main():
    runner, header = sys.argv[1:3]
    with open(header, encoding="utf-8") as f:
        said = dict(re.findall(r"#define CLV_ERROR_OF_(\w+)\s+([\d.]+)", f.read()))
    line = np.concatenate([np.linspace(-110, 110, 1 << 18), np.linspace(-20, 20, 1 << 20)])
    rows = np.random.default_rng(1).normal(size=(200, 1000)) * 20
    exact = {"Sigmoid": (line, lambda x: 1 / (1 + np.exp(-x))), "Tanh": (line, np.tanh),
             "Erf": (line, np.vectorize(math.erf)), "Softmax": (rows, softmax)}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for op, (x, function) in exact.items():
            x = x.astype(np.float32)
            error = np.abs(computed(runner, folder, op, x) - function(x.astype(np.float64))).max()
            allowed = float(said[op.upper()])
            good = allowed / 2 <= error / UNIT <= allowed
            wrong += not good
            print(f"{op:8s} {error / UNIT:.2f} units of 2^-24, {allowed} allowed{'' if good else ': wrong'}")
    return 1 if wrong or set(said) != {op.upper() for op in exact} else 0


if __name__ == "__main__":
    sys.exit(main())
