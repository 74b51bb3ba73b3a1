#!/usr/bin/env python3
"""listing.py - what stands in ONNX files, a line a node, as docs/lowering.md shows it.

Usage: listing.py FILE.onnx...
"""
import sys

import onnx
from onnx import helper

DTYPES = {1: "float32", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64"}


def tensor(name, dtype, dims):
    return f"{name} {DTYPES.get(dtype, dtype)}[{', '.join(map(str, dims))}]"


def value(v):
    t = v.type.tensor_type
    return tensor(v.name, t.elem_type, [d.dim_value or d.dim_param for d in t.shape.dim])


def shown(attr):
    v = helper.get_attribute_value(attr)
    v = v.decode() if isinstance(v, bytes) else list(v) if attr.ints else v
    return f"{attr.name}={v}"


def metadata_of(message, field):
    """metadata_props, also where onnx.py is older than those of nodes."""
    if hasattr(message, "metadata_props"):
        return {p.key: p.value for p in message.metadata_props}
    from google.protobuf.internal import decoder
    data, at, found = message.SerializeToString(), 0, {}
    while at < len(data):
        key, at = decoder._DecodeVarint(data, at)
        n, at = decoder._DecodeVarint(data, at)
        if key & 7 == 2:
            if key >> 3 == field:
                p = onnx.StringStringEntryProto.FromString(data[at:at + n])
                found[p.key] = p.value
            at += n
    return found


def show(path):
    model = onnx.load(path, load_external_data=False)
    g = model.graph
    weights = {w.name for w in g.initializer}
    print(path.rpartition("/")[2])
    print("  takes   " + ", ".join(value(i) for i in g.input if i.name not in weights))
    if weights:
        print("  has     " + ", ".join(tensor(w.name, w.data_type, w.dims) for w in g.initializer))
    for n in g.node:
        domain = n.domain + "." if n.domain else ""
        args = list(n.input) + [shown(a) for a in n.attribute]
        line = f"  runs    {', '.join(n.output)} = {domain}{n.op_type}({', '.join(args)})"
        notes = [f"{k}: {v}" for k, v in metadata_of(n, 9).items()]
        print(line + (f"    # {', '.join(notes)}" if notes else ""))
    print("  gives   " + ", ".join(value(o) for o in g.output))
    for p in model.metadata_props:
        if p.key != "cleave.routes":  # binds it to its manifest; says nothing of the model
            print(f"  says    {p.key}: {p.value}")


for file in sys.argv[1:]:
    show(file)
