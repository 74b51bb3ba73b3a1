#!/usr/bin/env python3
"""check_copies.py - every model of some folders written anew by copy_model, with its tensors renamed, and
held against the same renaming done here on ONNX's own messages, and against ONNX's own checker.

Usage: check_copies.py COPY_MODEL FOLDER_OR_FILE... [--limit N]

Each model is written twice: under its own names and under names with a suffix. Nodes, bodies, initialisers,
functions and operator sets must be equal to what is expected, message by message; the checker must say of
the copy what it says of the original. The last line is 'N passed, N refused, N failed'; refused are models
that our reader refuses.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import onnx
from onnx import AttributeProto


def made_by(graph):
    """The names that a graph makes itself."""
    names = {i.name for i in graph.input} | {t.name for t in graph.initializer}
    names |= {s.values.name for s in graph.sparse_initializer}
    for node in graph.node:
        names |= set(node.output)
    return names - {""}


def bodies_of(node):
    for attr in node.attribute:
        if attr.type == AttributeProto.GRAPH:
            yield attr.g
        yield from attr.graphs


def drop_devices(node):
    if hasattr(node, "device_configurations"):
        node.ClearField("device_configurations")
    else:
        node.DiscardUnknownFields()


def rename_body(body, names):
    """names: old -> new, of the tensors around the body."""
    names = {old: new for old, new in names.items() if old not in made_by(body)}
    for node in body.node:
        drop_devices(node)
        node.input[:] = [names.get(i, i) for i in node.input]
        for inner in bodies_of(node):
            rename_body(inner, names)
    for value in list(body.output) + list(body.value_info):
        value.name = names.get(value.name, value.name)
    for note in body.quantization_annotation:
        note.tensor_name = names.get(note.tensor_name, note.tensor_name)
        for parameter in note.quant_parameter_tensor_names:
            parameter.value = names.get(parameter.value, parameter.value)


def calls_of(nodes):
    for node in nodes:
        yield node.domain, node.op_type
        for body in bodies_of(node):
            yield from calls_of(body.node)


def called_functions(model):
    """Those that are reached, by name and domain."""
    kept, waiting = set(), list(model.graph.node)
    todo = [model.graph.node]
    while todo:
        for call in set(calls_of(todo.pop())):
            for f in model.functions:
                if (f.domain, f.name) == call and id(f) not in kept:
                    kept.add(id(f))
                    todo.append(f.node)
    return [f for f in model.functions if id(f) in kept]


def expected(model, suffix):
    want = onnx.ModelProto()
    want.CopyFrom(model)
    want.ir_version = max(model.ir_version, 4)
    functions = called_functions(want)
    functions = [onnx.FunctionProto.FromString(f.SerializeToString()) for f in functions]
    del want.functions[:]
    for f in functions:
        for node in f.node:
            drop_devices(node)
            for body in bodies_of(node):
                rename_body(body, {})
        want.functions.append(f)
    for field in ("metadata_props", "training_info"):
        want.ClearField(field)
    g = want.graph
    for field in ("doc_string", "quantization_annotation", "metadata_props"):
        if field in g.DESCRIPTOR.fields_by_name:
            g.ClearField(field)
    weights = {t.name for t in g.initializer} | {s.values.name for s in g.sparse_initializer}
    inputs = [i for i in g.input if i.name not in weights]
    del g.input[:]
    g.input.extend(inputs)
    names = {n: n + suffix for n in made_by(g) | {i.name for i in g.input}}
    for node in g.node:
        drop_devices(node)
        node.input[:] = [names.get(i, i) for i in node.input]
        node.output[:] = [names.get(i, i) for i in node.output]
        if node.name:
            node.name += suffix
        for body in bodies_of(node):
            rename_body(body, names)
    for value in list(g.input) + list(g.output) + list(g.value_info):
        value.name = names.get(value.name, value.name)
    for tensor in g.initializer:
        tensor.name = names[tensor.name]
    for sparse in g.sparse_initializer:
        sparse.values.name = names[sparse.values.name]
    return want


def plain_type(value):
    """Name, element type and the dimensions that are numbers: the others may have been given names."""
    t = value.type
    while t.WhichOneof("value") in ("sequence_type", "optional_type"):
        t = getattr(t, t.WhichOneof("value")).elem_type
    t = t.tensor_type
    dims = [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in t.shape.dim]
    return value.name, value.type.WhichOneof("value"), t.elem_type, t.HasField("shape"), dims


def differences(want, got):
    a, b = want.graph, got.graph
    for kind in ("node", "initializer", "sparse_initializer"):
        x, y = getattr(a, kind), getattr(b, kind)
        if len(x) != len(y):
            return f"{len(y)} of {kind}, expected {len(x)}"
        for i, (p, q) in enumerate(zip(x, y)):
            if p.SerializeToString(deterministic=True) != q.SerializeToString(deterministic=True):
                return f"{kind} {i} '{getattr(p, 'name', '')}' differs"
    for kind in ("input", "output"):
        x, y = [plain_type(v) for v in getattr(a, kind)], [plain_type(v) for v in getattr(b, kind)]
        if x != y:
            return f"{kind}s are {y}, expected {x}"
    known = {v.name: plain_type(v) for v in a.value_info}
    if any(known.get(v.name) != plain_type(v) for v in b.value_info):
        return "a value_info differs"
    for field in ("ir_version", "producer_name", "producer_version", "domain", "model_version", "doc_string"):
        if getattr(want, field) != getattr(got, field):
            return f"{field} differs"
    if a.name != b.name or list(want.opset_import) != list(got.opset_import):
        return "graph name or operator sets differ"
    return "" if list(want.functions) == list(got.functions) else "functions differ"


def verdict(model):
    try:
        onnx.checker.check_model(model)
        return ""
    except Exception as e:  # the checker's own exception classes differ by version
        return str(e).split("\n")[0] or "no"


def check(args, path):
    original = onnx.load(path, load_external_data=False)
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "out.onnx")
        for suffix in ("", "_z"):
            ran = subprocess.run([args.copy, path, out, suffix], capture_output=True, text=True)
            if ran.returncode == 1 and not suffix:
                return "refused", ran.stderr.strip()
            if ran.returncode != 0:
                return "failed", f"exits {ran.returncode}: {ran.stderr.strip()}"
            got = onnx.load(out, load_external_data=False)
            said = differences(expected(original, suffix), got)
            if said:
                return "failed", f"suffix '{suffix}': {said}"
            original.ir_version = max(original.ir_version, 4)
            a, b = verdict(original), verdict(got)
            if bool(a) != bool(b):
                return "failed", f"suffix '{suffix}': the checker says {b!r} of the copy and {a!r} before"
    return "passed" if not a else "passed, though the checker refuses it before and after", ""


def models_in(places):
    for place in places:
        if os.path.isfile(place):
            yield place
        for folder, _, files in sorted(os.walk(place)):
            yield from (os.path.join(folder, f) for f in sorted(files) if f.endswith(".onnx"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("copy")
    parser.add_argument("places", nargs="+")
    parser.add_argument("--limit", type=int, default=0)
    args = parser.parse_args()
    paths = list(models_in(args.places))
    if args.limit and len(paths) > args.limit:
        paths = paths[::len(paths) // args.limit]
    counts = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (outcome, words) in zip(paths, pool.map(lambda p: check(args, p), paths)):
            counts[outcome] = counts.get(outcome, 0) + 1
            if words:
                print(f"{path}: {outcome}: {words}")
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    failed = counts.get("failed", 0)
    print(f"{sum(n for o, n in counts.items() if o.startswith('passed'))} passed, "
          f"{counts.get('refused', 0)} refused, {failed} failed")
    return 1 if failed or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
