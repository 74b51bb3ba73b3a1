#!/usr/bin/env python3
"""check_weights.py - the elements of weights as dump_weights finds them, held against ONNX's own library.

Usage: check_weights.py DUMP_WEIGHTS FOLDER_OR_FILE... [--limit N]

First models made here: each element type that the installed library knows, in each of the forms that it
writes (raw_data, typed fields, external data), with random elements, of several shapes. Then each model of
the folders. The last line is 'N tensors equal, N failed'.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from check_copies import models_in

SKIPPED = ("UNDEFINED", "STRING")
SHAPES = ([], [1], [3], [5, 7], [2, 0], [2, 3, 129])


def packed(tensor, folder):
    """The bytes that raw_data of the tensor would be."""
    if 0 in tensor.dims:  # where the library takes a length of 0 for "to the end"
        return b""
    if tensor.data_location == TensorProto.EXTERNAL:
        external_data_helper.load_external_data_for_tensor(tensor, folder)
        return tensor.raw_data
    if tensor.HasField("raw_data"):
        return tensor.raw_data
    name = TensorProto.DataType.Name(tensor.data_type)
    if name in ("INT4", "UINT4", "FLOAT4E2M1", "INT2", "UINT2"):  # each number is a byte of several
        return bytes(x & 0xFF for x in tensor.int32_data)
    if name.startswith("FLOAT8"):
        return bytes(x & 0xFF for x in tensor.int32_data)
    if name in ("BFLOAT16", "FLOAT16"):  # the library's own answer would be float32 for the first
        return numpy.array(tensor.int32_data, dtype=numpy.uint16).tobytes()
    if name == "COMPLEX64":  # which the library stumbles over with some versions of numpy
        return numpy.array(tensor.float_data, dtype=numpy.float32).tobytes()
    if name == "COMPLEX128":
        return numpy.array(tensor.double_data, dtype=numpy.float64).tobytes()
    return numpy_helper.to_array(tensor).tobytes()


def elements(name, n, rng):
    """n numbers that helper.make_tensor takes for an element type."""
    if name == "BOOL":
        return [rng.random() < 0.5 for _ in range(n)]
    if name.startswith("COMPLEX"):
        return [complex(rng.uniform(-9, 9), rng.uniform(-9, 9)) for _ in range(n)]
    if "INT" in name:
        bits = int(name.lstrip("UINT"))
        low = 0 if name.startswith("U") else -2 ** (bits - 1)
        return [rng.randint(low, low + 2 ** bits - 1) for _ in range(n)]
    if name == "FLOAT8E8M0":
        return [2.0 ** rng.randint(-9, 9) for _ in range(n)]
    return [rng.uniform(-3, 3) for _ in range(n)]


def made_tensors(rng):
    for name in TensorProto.DataType.keys():
        if name in SKIPPED:
            continue
        for i, dims in enumerate(SHAPES):
            n = int(numpy.prod(dims, dtype=int))
            try:
                tensor = helper.make_tensor(f"{name}_{i}", TensorProto.DataType.Value(name), dims,
                                            elements(name, n, rng))
            except (TypeError, ValueError, KeyError) as e:
                print(f"{name}: the library makes no such tensor: {e}")
                break
            yield tensor


def as_raw(tensor):
    raw = TensorProto(name=tensor.name + "_raw", data_type=tensor.data_type, dims=tensor.dims)
    raw.raw_data = packed(tensor, None)
    return raw


def write_made(folder, rng):
    """typed.onnx, raw.onnx and external.onnx of the same elements."""
    typed = list(made_tensors(rng))
    for form in ("typed", "raw", "external"):
        tensors = typed if form == "typed" else [as_raw(t) for t in typed]
        graph = helper.make_graph([], form, [], [], tensors)
        path = os.path.join(folder, form + ".onnx")
        model = helper.make_model(graph)
        model.ir_version = 8
        if form == "external":
            onnx.save(model, path, save_as_external_data=True, location="all.bin", size_threshold=0)
        else:
            onnx.save(model, path)
        yield path


def check(dump, path, out):
    """(equal, failed) tensors; a refused model has none."""
    ran = subprocess.run([dump, path, out], capture_output=True, text=True)
    if ran.returncode != 0:
        print(f"{path}: {ran.stderr.strip()}")
        return (0, 0) if ran.returncode == 1 and "made" not in path else (0, 1)
    graph = onnx.load(path, load_external_data=False).graph
    equal = failed = 0
    with open(out, "rb") as f:
        for line in ran.stdout.splitlines():
            i, kind, n = line.split()
            got = f.read(int(n))
            if kind in ("absent", "none"):
                continue
            want = packed(graph.initializer[int(i)], os.path.dirname(path))
            if got != want:
                print(f"{path}: weight {i} ({kind}): {got[:16].hex()}..., expected {want[:16].hex()}...")
            equal += got == want
            failed += got != want
    return equal, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump")
    parser.add_argument("places", nargs="*")
    parser.add_argument("--limit", type=int, default=0)
    args = parser.parse_args()
    paths = list(models_in(args.places))
    if args.limit and len(paths) > args.limit:
        paths = paths[::len(paths) // args.limit]
    with tempfile.TemporaryDirectory(prefix="made_") as tmp:
        made = list(write_made(tmp, random.Random(1)))
        results = [check(args.dump, p, os.path.join(tmp, "out")) for p in made + paths]
    ours = sum(e for e, _ in results[:len(made)])
    equal, failed = sum(e for e, _ in results), sum(f for _, f in results)
    print(f"{ours} of the tensors made here")
    print(f"{equal} tensors equal, {failed} failed")
    return 1 if failed or ours == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
