#!/usr/bin/env python3
"""check_optimized.py - the kernels of configs/runtimes/onnxruntime.json against ONNX Runtime's own.

  check_optimized.py COMPARE_OPTIMIZED ROOT [--level basic|extended|all] [--show] [MODEL ...]

ONNX Runtime writes its optimised graph of each model (those of the repository, or MODEL ...); a tensor that is gone
from it should be inside a kernel of ours, and the other way round. Exit 1 where less than LEAST of a model's tensors
agree. Weights that a model has in a file that is not there are zeros.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import onnx

LEAST = 0.95
# Its channels are too few to be blocked, so the runtime leaves batch norms and activations apart.
NARROW = {"densenet.static.onnx": 0.85}
# Of symbols with that in their names.
DECODE = [("past", 7), ("total", 8), ("batch", 2), ("sequence", 1), ("", 8)]
PREFILL = [("batch", 2), ("total", 16), ("sequence", 16), ("", 8)]
MODELS = ["models/bert.dyn.onnx", "models/llama_gqa_decode.dyn.onnx", "models/resnet.static.onnx",
          "published/bert_base.dyn.onnx", "published/resnet50.dyn.onnx", "published/vit_b_16.dyn.onnx",
          "runnable/bert.opset11.onnx", "runnable/convnext.static.onnx", "runnable/densenet.static.onnx",
          "runnable/dlrm.static.onnx", "runnable/efficientnet.static.onnx",
          "runnable/genai_q4_decode.dyn.onnx", "runnable/mixtral_prefill.static.onnx",
          "runnable/opset23_decode.dyn.onnx"]


def size_of(symbol, symbols):
    sizes = DECODE if any("past" in s for s in symbols) else PREFILL
    return next(n for part, n in sizes if part in symbol)


def bindings(model):
    symbols = sorted({d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param})
    return [f"{s}={size_of(s, symbols)}" for s in symbols]


def missing_weights(model, folder):
    """External files of a model, as long as it says they are: {path: bytes}."""
    tensors = list(model.graph.initializer)
    tensors += [a.t for n in model.graph.node for a in n.attribute if a.type == onnx.AttributeProto.TENSOR]
    sizes = {}
    for t in tensors:
        at = {e.key: e.value for e in t.external_data}
        if "location" in at and not os.path.exists(os.path.join(folder, at["location"])):
            end = int(at.get("offset", 0)) + int(at["length"])
            sizes[at["location"]] = max(sizes.get(at["location"], 0), end)
    return sizes


def compare(a, path, scratch):
    model = onnx.load(path, load_external_data=False)
    sizes = missing_weights(model, os.path.dirname(path))
    if sizes:
        copy = os.path.join(scratch, "model.onnx")
        with open(path, "rb") as source, open(copy, "wb") as to:
            to.write(source.read())
        for name, n in sizes.items():
            with open(os.path.join(scratch, name), "wb") as weights:
                weights.truncate(n)
        path = copy
    done = subprocess.run([a.tool, os.path.join(a.root, "configs/runtimes/onnxruntime.json"), path, a.level,
                           os.path.join(scratch, "optimized.onnx"), *bindings(model)], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    *lines, last = done.stdout.splitlines()
    n, both, ours, theirs, _ = map(int, last[2:].split())
    return (n, both, ours, theirs), lines


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tool")
    p.add_argument("root")
    p.add_argument("models", nargs="*")
    p.add_argument("--level", default="all")
    p.add_argument("--show", action="store_true")
    a = p.parse_args()
    failed = 0
    print(f"{'model':36} {'tensors':>7} {'both':>5} {'ours':>5} {'theirs':>6} {'agree':>6}")
    for path in a.models or [os.path.join(a.root, "tests/data", m) for m in MODELS]:
        with tempfile.TemporaryDirectory() as scratch:
            counts, lines = compare(a, path, scratch)
        name = os.path.basename(path)
        if not counts:
            print(f"{name:36} {lines}")
            failed += 1
            continue
        n, both, ours, theirs = counts
        agree = 1 - (ours + theirs) / n if n else 1
        enough = agree >= NARROW.get(name, LEAST)
        failed += not enough
        print(f"{name:36} {n:7} {both:5} {ours:5} {theirs:6} {100 * agree:5.1f}%{'' if enough else ' <'}")
        for line in lines if a.show else []:
            print("   ", line)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
