#!/usr/bin/env python3
"""Holds the shapes that Cleave infers against those that ONNX Runtime computed.

    ort_cases.py check DUMP_SHAPES [--every=N] [WORDS]   compares with ort_shapes.tsv; WORDS: only such
                                                         cases, --every: one in so many
    ort_cases.py write FOLDER                            the models of all cases, and cases.json

The cases are models of one operator (a few have more) that newer operator sets or com.microsoft
define, so that onnx's own inference does not know them. ort_shapes.tsv has the types that ONNX
Runtime gave their results, one line a case; it is made again, never edited, by

    ort_cases.py write FOLDER; node ort_shapes.mjs FOLDER > ort_shapes.tsv   (see there)

A case that the runtime refuses has no line there, and one without a line is an error of the list.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import numpy
from onnx import TensorProto, helper

from ort_lists import all_cases

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "ort_shapes.tsv")
IR_VERSION = 10

# name -> (number in TensorProto.DataType, numpy's type; None: raw bytes, bits an element)
DTYPES = {
    "float": (1, "f4", 32), "uint8": (2, "u1", 8), "int8": (3, "i1", 8), "uint16": (4, "u2", 16),
    "int16": (5, "i2", 16), "int32": (6, "i4", 32), "int64": (7, "i8", 64), "string": (8, None, 0),
    "bool": (9, "?", 8), "float16": (10, "f2", 16), "double": (11, "f8", 64),
    "uint32": (12, "u4", 32), "uint64": (13, "u8", 64), "bfloat16": (16, None, 16),
    "float8e4m3fn": (17, None, 8), "float8e4m3fnuz": (18, None, 8), "float8e5m2": (19, None, 8),
    "float8e5m2fnuz": (20, None, 8), "uint4": (21, None, 4), "int4": (22, None, 4),
    "float4e2m1": (23, None, 4), "float8e8m0": (24, None, 8), "uint2": (25, None, 2),
    "int2": (26, None, 2),
}


# -- models --

def weight(name, value):
    """A constant: its numbers where they are given, else ones, or for raw types the byte 0x11."""
    number, code, bits = DTYPES[value.dtype]
    tensor = TensorProto(name=name, data_type=number, dims=value.dims)
    n = int(numpy.prod(value.dims, dtype=int))
    if value.dtype == "string":
        tensor.string_data.extend(s.encode() for s in value.numbers or ["a b"] * n)
    elif code is None:
        tensor.raw_data = b"\x11" * ((n * bits + 7) // 8)
    else:
        numbers = [1] * n if value.numbers is None else value.numbers
        tensor.raw_data = numpy.array(numbers, code).tobytes()
    return tensor


def type_of(name, dtype, dims=None):
    return helper.make_tensor_value_info(name, DTYPES[dtype][0], dims)


def make_model(case, for_runtime):
    """The model, what has to be fed, and its results. Each result t has its shape as the further
    result 'shape of t', which the runtime's JavaScript can read for any type. Types that are
    claimed are for the runtime to check: it refuses a model with a wrong one."""
    inputs = {f"x{k}": value for k, value in enumerate(case.inputs) if value is not None}
    given = {name: value for name, value in inputs.items() if not value.is_const}
    results = [name for name in case.nodes[-1].output if name]
    nodes, outputs = list(case.nodes), []
    for name in results:
        of = name
        if name in case.claims:
            of = "float of " + name  # not all types have a Shape
            nodes.append(helper.make_node("Cast", [name], [of], to=TensorProto.FLOAT))
        elif name in case.stated:
            outputs.append(type_of(name, case.stated[name]))
        else:
            outputs.append(helper.ValueInfoProto(name=name))
        nodes.append(helper.make_node("Shape", [of], ["shape of " + name]))
        outputs.append(type_of("shape of " + name, "int64", [None]))
    graph = helper.make_graph(
        nodes, "case", [type_of(name, v.dtype, v.dims) for name, v in given.items()], outputs,
        [weight(name, value) for name, value in inputs.items() if value.is_const])
    if for_runtime:
        graph.value_info.extend(type_of(name, dtype) for name, dtype in case.claims.items())
    versions = {"": case.opset, "com.microsoft": 1}
    if case.nodes[-1].domain == "ai.onnx.ml":
        versions = {"": 18, "ai.onnx.ml": case.opset}
    opsets = [helper.make_opsetid(*version) for version in versions.items()]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    return model, given, results


def write(folder, cases, for_runtime):
    """NUMBER.onnx for each case, and cases.json that says what they are and what to feed them."""
    index = []
    for number, case in enumerate(cases):
        model, given, results = make_model(case, for_runtime)
        path = os.path.join(folder, f"{number}.onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        feeds = [{"name": n, "dtype": v.dtype, "dims": v.dims} for n, v in given.items()]
        index.append({"case": case.text, "model": f"{number}.onnx", "feeds": feeds,
                      "results": results, "claims": case.claims})
    with open(os.path.join(folder, "cases.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    return index


# -- comparison --

def read_record():
    with open(RECORD, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t") for line in file)


def inferred(program, path):
    """name -> type as Cleave writes it; and an error instead, if it has one"""
    run = subprocess.run([program, path], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return None, run.stderr.strip()
    return dict(line.split("\t") for line in run.stdout.splitlines() if "\t" in line), None


def fits(found, truth, may_be_open):
    """Whether the type found is the true one; dimensions that only the data decide may be open."""
    pieces = [re.split(r"([\[\], ])", text) for text in (found, truth)]
    return found == truth or (may_be_open and len(pieces[0]) == len(pieces[1])
                              and all(a in (b, "?") for a, b in zip(*pieces)))


def check(program, every, words):
    cases = [case for case in all_cases() if all(word in case.text for word in words)][::every]
    record = read_record()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for case, entry in zip(cases, write(folder, cases, False)):
            truth = record.pop(case.text, None)
            types, error = inferred(program, os.path.join(folder, entry["model"]))
            found = error or " ".join(types.get(name, "nothing") for name in entry["results"])
            if truth is None:
                truth = "nothing recorded"
            elif not error and fits(found, truth, case.may_be_open):
                continue
            print(f"{case.text}: ONNX Runtime {truth}, Cleave {found}")
            wrong += 1
    for text in [] if words or every > 1 else record:
        print(f"{text}: recorded, but no case")
        wrong += 1
    print(f"{len(cases)} cases, {wrong} wrong")
    return wrong > 0 or not cases


def main():
    command, where, *words = sys.argv[1:]
    if command == "check":
        every = int(words.pop(0)[len("--every="):]) if words and words[0].startswith("--every=") else 1
        return check(where, every, words)
    os.makedirs(where, exist_ok=True)
    write(where, list(all_cases()), True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
