#!/usr/bin/env python3
"""Compares the shapes that Cleave infers with those of the onnx package.

    compare_shapes.py DUMP_SHAPES MODEL... [--bind SYMBOL=VALUE]... [--open] [--strip] [--verbose]

DUMP_SHAPES is the program of that name (dump_shapes.c). A model or a folder of models may be given.
Wherever onnx knows an element type, a rank or a dimension, Cleave must say the same. Models newer
than the installed onnx are read with its newest operator set; what it cannot read or infer is only
checked for an answer from Cleave. With --open, each model must have no open tensor either. With
--strip, the types that the files declare for results are taken out first, so that nothing but
inference can know them; what comes out must not contradict what was declared. Symbols are compared
only then: a file may declare another name for a dimension, and onnx takes that one.
Exit code 1 if anything differs.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, shape_inference

NEWEST_IR = onnx.IR_VERSION
NEWEST_OPSET = {"": onnx.defs.onnx_opset_version()}
TYPE = re.compile(r"^(sparse )?([a-z0-9?]+)\[(.*)\]$")


def models_of(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, _, names in sorted(os.walk(path)):
            yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(".onnx"))


def set_back(model):
    """Lowers versions that this onnx does not know. True if an operator set was lowered."""
    lowered = False
    model.ir_version = min(model.ir_version, NEWEST_IR)
    for opset in model.opset_import:
        newest = NEWEST_OPSET.get(opset.domain.replace("ai.onnx", "", 1) or "", None)
        if newest and opset.version > newest:
            opset.version = newest
            lowered = True
    return lowered


def bind(model, bindings):
    """Symbols replaced in the types of the main graph."""
    graph = model.graph
    for value in [*graph.input, *graph.output, *graph.value_info]:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            name = dim.dim_param or f"{value.name}[{axis}]"
            if not dim.HasField("dim_value") and name in bindings:
                dim.dim_value = bindings[name]


def onnx_types(model):
    """name -> (element type, dims or None); a dim is an int, a symbol or None."""
    graph = model.graph
    types = {}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        if not value.type.HasField("tensor_type"):
            continue
        tensor = value.type.tensor_type
        dims = None
        if tensor.HasField("shape"):
            dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or None
                    for d in tensor.shape.dim]
        types[value.name] = (TensorProto.DataType.Name(tensor.elem_type).lower(), dims)
    for weight in graph.initializer:
        types[weight.name] = (TensorProto.DataType.Name(weight.data_type).lower(), list(weight.dims))
    return types


def our_types(program, path, bindings):
    """The same from Cleave; None for a type that is no tensor. Also its counts and conflicts."""
    command = [program, path, *(f"{k}={v}" for k, v in bindings.items())]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode != 0:
        return None, None, (run.stderr.strip().splitlines() or [f"exit {run.returncode}"])[-1:]
    types, counts, conflicts = {}, None, []
    for line in run.stdout.splitlines():
        if line.startswith("# "):
            counts = [int(x) for x in line[2:].split()]
        elif line.startswith("! "):
            conflicts.append(line[2:])
        elif "\t" in line:
            name, text = line.rsplit("\t", 1)
            types[name] = parse_type(text)
    return types, counts, conflicts


def parse_type(text):
    match = TYPE.match(text)
    if not match:
        return None
    if match[3] == "...":
        return match[2], None
    dims = split_dims(match[3])
    return match[2], [int(d) if re.fullmatch(r"-?\d+", d) else None if d == "?" else d for d in dims]


def split_dims(text):
    return text.split(",") if text else []


def differences(theirs, ours, open_is_fine=False, compare_symbols=False):
    """Sentences. open_is_fine: only where both know and know differently."""
    for name, (dtype, dims) in theirs.items():
        mine = ours.get(name)
        if mine is None:
            if name and name in ours and not open_is_fine and dtype != "undefined":
                yield f"{name}: onnx {dtype}{dims}, Cleave no tensor"
            continue
        if dtype not in ("undefined", mine[0]):
            yield f"{name}: onnx {dtype}, Cleave {mine[0]}"
        if dims is None or (open_is_fine and mine[1] is None):
            continue
        if mine[1] is None or len(mine[1]) != len(dims):
            yield f"{name}: onnx {dims}, Cleave {mine[1]}"
            continue
        for axis, (their, my) in enumerate(zip(dims, mine[1])):
            known = isinstance(their, int) and not (open_is_fine and not isinstance(my, int))
            symbols = (compare_symbols and isinstance(their, str) and isinstance(my, str)
                       and not their.startswith("unk__"))
            if (known or symbols) and their != my:
                yield f"{name}: dimension {axis} onnx {dims}, Cleave {mine[1]}"
                break


def strip(path, ret_path):
    """Writes the model without declared results; returns what was declared."""
    model = onnx.load(path, load_external_data=False)
    declared = onnx_types(model)
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.ClearField("type")
    onnx.save(model, ret_path)
    return declared


def infer(path, bindings):
    """(types by onnx or None, whether the operator set was lowered, why not)"""
    try:
        model = onnx.load(path, load_external_data=False)
        bind(model, bindings)
        lowered = set_back(model)
        return onnx_types(shape_inference.infer_shapes(model, data_prop=True)), lowered, None
    except Exception as reason:  # whatever this onnx cannot do is skipped, and said
        return None, False, str(reason).splitlines()[0] if str(reason) else repr(reason)


def check(path, options, bindings):
    """Prints what is wrong with one model; returns how much."""
    with tempfile.TemporaryDirectory() as folder:
        read = os.path.join(folder, "model.onnx") if options.strip else path
        declared = strip(path, read) if options.strip else {}
        ours, counts, words = our_types(options.program, read, bindings)
        if ours is None:
            print(f"{path}: Cleave: {words[0]}")
            return 1
        theirs, lowered, reason = infer(read, bindings)
    found = list(differences(theirs or {}, ours, compare_symbols=options.strip))
    options.compared += len(theirs or {})
    found += [f"declared {text}" for text in differences(declared, ours, True)] if not bindings else []
    note = " (operator set lowered)" if lowered else ""
    for text in found:
        print(f"{path}{note}: {text}")
    if options.open and (counts[2] or counts[3]):
        found.append("open")
        print(f"{path}: {counts[2]} open tensors, {counts[3]} in bodies: "
              + ", ".join(n for n, t in ours.items() if not t or t[1] is None
                          or not all(isinstance(d, int) for d in t[1]))[:300])
    if options.verbose:
        for text in words:
            print(f"{path}: declared: {text}")
        if reason:
            print(f"{path}: onnx: {reason}")
    return len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("model", nargs="+")
    parser.add_argument("--bind", action="append", default=[])
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--strip", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.compared = 0
    bindings = {k: int(v) for k, v in (b.rsplit("=", 1) for b in options.bind)}
    models = wrong = 0
    for path in models_of(options.model):
        models += 1
        wrong += check(path, options, bindings) > 0
    print(f"{models} models, {options.compared} tensors, {wrong} models with differences")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
