#!/usr/bin/env python3
"""check_reference.py - holds the reference kernels against results that are not ours.

Usage: check_reference.py FOLDER [WORD]       FOLDER: of Debian's libonnx-testdata
       check_reference.py --write FOLDER      models and cases.json for ort_values.mjs

Three sources: ONNX's own test data (FOLDER/data/*/*/model.onnx with test_data_set_*); what ONNX
Runtime computed for those of our cases whose operators have none (ort_values.tsv; see
ort_values.mjs); and identities.py. WORD: only published cases with it in their name. Prints a count
by operator; exit 1 if a result differs, or if a kernel was held against nothing.
"""
import collections
import glob
import json
import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper

import cases
import identities
import reference

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "ort_values.tsv")
RTOL, ATOL = 1e-3, 1e-6  # ONNX's own runner allows 1e-3 and 1e-7; sums are in another order here
RECORD_RTOL, RECORD_ATOL = 1e-4, 1e-5  # six digits are recorded

# Published cases that are not held against, by a word in their name.
LEFT_OUT = {
    "training_dropout": "random", "bfloat16": "no such type in numpy",
    "BFLOAT16": "no such type in numpy", "STRING": "numbers as text",
    "adam_multiple": "made with an epsilon of 0.01 that the model does not state",
}


def read(path, type_):
    if type_.WhichOneof("value") != "tensor_type":
        raise NotImplementedError("a sequence or optional")
    tensor = onnx.TensorProto()
    with open(path, "rb") as f:
        tensor.ParseFromString(f.read())
    return numpy_helper.to_array(tensor)


def numbered(folder, word):
    paths = glob.glob(os.path.join(folder, word + "_*.pb"))
    return sorted(paths, key=lambda p: int(p[:-3].rsplit("_", 1)[1]))


def difference(got, want, rtol, atol):
    """'' or what differs."""
    got = np.asarray(got)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got.dtype != want.dtype:
        return f"type {got.dtype}, expected {want.dtype}"
    if want.dtype == object:
        return "" if (got == want).all() else "other text"
    if not np.allclose(got, want, rtol, atol, equal_nan=True):
        return f"differs by up to {np.nanmax(np.abs(got.astype(float) - want.astype(float)))}"
    return ""


class Counts:
    def __init__(self):
        self.held, self.skipped, self.failed = collections.Counter(), collections.Counter(), 0

    def note(self, name, what, fault):
        if fault:
            self.failed += 1
            print(f"{what}: {fault}")
        else:
            self.held[name] += 1


def differs_from_data(model, folder):
    graph = model.graph
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 17)
    given = {t.name for t in graph.initializer}
    fed = [i for i in graph.input if i.name not in given]
    feeds = {i.name: read(p, i.type) for i, p in zip(fed, numbered(folder, "input"))}
    values = reference.run_graph(graph, feeds, opset)
    for value, path in zip(graph.output, numbered(folder, "output")):
        fault = difference(values[value.name], read(path, value.type), RTOL, ATOL)
        if fault:
            return f"{value.name}: {fault}"
    return ""


def check_published(folder, word, counts):
    for path in sorted(glob.glob(os.path.join(folder, "data", "*", "*", "model.onnx"))):
        where = os.path.dirname(path)
        name = os.path.basename(where)
        if word not in name or any(w in name for w in LEFT_OUT):
            continue
        model = onnx.load(path)
        if not reference.has_kernels(model.graph):
            continue
        ops = {(f"{n.domain}." if n.domain else "") + n.op_type for n in model.graph.node}
        said = ops.pop() if len(ops) == 1 else "graphs of several operators"
        for data in sorted(glob.glob(os.path.join(where, "test_data_set_*"))):
            try:
                counts.note(said, name, differs_from_data(model, data))
            except NotImplementedError as e:
                counts.skipped[str(e)] += 1


def check_recorded(counts):
    with open(RECORD, encoding="utf-8") as f:
        record = dict(line.rstrip("\n").split("\t") for line in f)
    for case in cases.all_cases():
        if case.key not in record:
            continue
        node = cases.model_of([case]).graph.node[0]
        got = reference.run_node(node, case.values(), case.opset)
        kept = [v for v, name in zip(got, case.outputs) if name]
        fault = ""  # JSON has no infinite numbers: null stands for all that are not finite
        for k, (value, reported) in enumerate(zip(kept, json.loads(record.pop(case.key)))):
            numbers = [np.nan if x is None else x for x in reported["data"]]
            dtype = object if reported["type"] == "string" else reported["type"]
            want = np.array(numbers, dtype).reshape(reported["dims"])
            if value.dtype.kind == "f":
                value = np.where(np.isfinite(value), value, np.nan).astype(value.dtype)
            found = difference(value, want, RECORD_RTOL, RECORD_ATOL)
            fault = fault or found and f"output {k}: {found}"
        counts.note(case.name, case.text, fault)
    for key in record:
        counts.note("", key, "is recorded, but there is no such case any more")


def check(folder, word):
    counts = Counts()
    check_published(folder, word, counts)
    if not word:
        check_recorded(counts)
        for op, (n, faults) in identities.check().items():
            counts.held[op] += n - len(faults)
            for fault in faults:
                counts.note(op, op, fault)
    print(", ".join(f"{op} {n}" for op, n in sorted(counts.held.items())))
    for why, n in counts.skipped.items():
        print(f"left out, {n} cases: {why}")
    known = {(f"{d}." if d else "") + n for d, n in reference.KERNELS}
    for op in sorted(known - set(counts.held)) if not word else ():
        counts.note(op, op, "its kernel was held against nothing")
    print(f"{sum(counts.held.values())} passed, {counts.failed} failed")
    return 1 if counts.failed else 0


def plain(v):
    """Numbers, or strings, that JSON knows."""
    return v if v.dtype == object else v.astype(float if v.dtype.kind == "f" else int)


def write(folder):
    """Cases whose operator, in their version, has no published data."""
    index = []
    os.makedirs(folder, exist_ok=True)
    published = onnx.defs.onnx_opset_version()
    for number, case in enumerate(cases.all_cases()):
        if not case.domain and case.opset <= published and case.op not in UNPUBLISHED:
            continue
        with open(os.path.join(folder, f"{number}.onnx"), "wb") as f:
            f.write(cases.model_of([case]).SerializeToString())
        feeds = [{"name": f"x{i}", "dtype": v.dtype.name, "dims": v.shape,
                  "data": plain(v).ravel().tolist()}
                 for i, v in enumerate(case.values()) if v is not None
                 and not case.inputs[i].is_const]
        index.append({"key": case.key, "model": f"{number}.onnx", "feeds": feeds,
                      "results": [n for n in case.outputs if n]})
    with open(os.path.join(folder, "cases.json"), "w", encoding="utf-8") as f:
        json.dump(index, f)


# Standard operators without a published case in Debian's version.
UNPUBLISHED = set("""Affine Crop GlobalLpPool ImageScaler LpNormalization LpPool MaxRoiPool
    ParametricSoftplus Scale ScaledTanh SimplifiedLayerNormalization""".split())

if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write(sys.argv[2])
    else:
        sys.exit(check(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""))
