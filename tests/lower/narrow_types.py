#!/usr/bin/env python3
"""narrow_types.py - tensors of 8-, 4- and 2-bit types that Concat and Slice do not take, in every layout.

Usage: narrow_types.py LOWER_LAYOUTS CLEAVE_RUN [WORD] [--mesh 2 --mesh 3] [--form emulate|ort|tensorrt]
                       [--every N]

Node tests as ONNX's backend has them for these types (Cast, CastLike, QuantizeLinear,
DequantizeLinear, and operators that pass elements on), with odd sizes, scalars, tensors without
elements and every code of each type. conform.py judges them: side by side, and a model a device with
collectives of either dialect. Expected outputs are computed here, from the definitions of the types.
Then the outputs of some layouts are compared bit for bit. WORD: only tests whose name has it.

covers: A.051 E.057
"""
import argparse
import glob
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

from examples import call, check

FLOAT, HALF, INT64, BOOL = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.BOOL
UINT8, INT8 = TensorProto.UINT8, TensorProto.INT8
PLAIN = {FLOAT: np.float32, HALF: np.float16, INT64: np.int64, BOOL: np.bool_, UINT8: np.uint8, INT8: np.int8}
# By the number in TensorProto.DataType: name, bits, the first operator set that casts it.
TYPES = {17: ("float8e4m3fn", 8, 19), 18: ("float8e4m3fnuz", 8, 19), 19: ("float8e5m2", 8, 19),
         20: ("float8e5m2fnuz", 8, 19), 21: ("uint4", 4, 21), 22: ("int4", 4, 21), 23: ("float4e2m1", 4, 23),
         24: ("float8e8m0", 8, 24), 25: ("uint2", 2, 25), 26: ("int2", 2, 25)}
IR_VERSION = {19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13}
MESHES = ("2", "3", "2x2", "4")


# -- numbers --

def small_float(code, exponent_bits, mantissa_bits, bias):
    mantissa, exponent = code & (1 << mantissa_bits) - 1, code >> mantissa_bits & (1 << exponent_bits) - 1
    sign = -1.0 if code >> mantissa_bits + exponent_bits & 1 else 1.0
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)


def number_of(dtype, code):
    """The number that a code stands for."""
    if dtype == 17:
        return math.nan if code & 0x7f == 0x7f else small_float(code, 4, 3, 7)
    if dtype == 18:
        return math.nan if code == 0x80 else small_float(code, 4, 3, 8)
    if dtype == 19 and code & 0x7c == 0x7c:
        return math.nan if code & 3 else -math.inf if code & 0x80 else math.inf
    if dtype == 19:
        return small_float(code, 5, 2, 15)
    if dtype == 20:
        return math.nan if code == 0x80 else small_float(code, 5, 2, 16)
    if dtype == 23:
        return small_float(code, 2, 1, 1)
    if dtype == 24:
        return math.nan if code == 0xff else math.ldexp(1, code - 127)
    bits = TYPES[dtype][1]
    return code - (1 << bits) if dtype in (22, 26) and code >> bits - 1 else code


class Value:
    """A tensor: of a narrow type its codes, of another its elements."""

    def __init__(self, dtype, at):
        self.dtype, self.at = dtype, np.asarray(at, PLAIN.get(dtype, np.uint8))

    def proto(self, name):
        raw = self.at.tobytes() if self.dtype in PLAIN else pack(self.at.ravel(), TYPES[self.dtype][1])
        return tensor(name, self.dtype, self.at.shape, raw)

    def numbers(self):
        if self.dtype in PLAIN:
            return self.at
        return np.array([number_of(self.dtype, int(c)) for c in self.at.ravel()]).reshape(self.at.shape)


def tensor(name, dtype, shape, raw):
    return TensorProto(name=name, data_type=dtype, dims=shape, raw_data=raw)


def pack(codes, bits):
    """The first element in the lowest bits of its byte."""
    per, out = 8 // bits, bytearray((len(codes) * bits + 7) // 8)
    for i, code in enumerate(codes):
        out[i // per] |= int(code) << i % per * bits
    return bytes(out)


def codes(dtype, shape, finite=False):
    """Codes of the type, a different one for each element as long as there are any."""
    all_codes = [c for c in range(1 << TYPES[dtype][1])
                 if not finite or (math.isfinite(number_of(dtype, c)) and abs(number_of(dtype, c)) < 1e4)]
    step = 37 if len(all_codes) > 37 else 3
    return Value(dtype, [all_codes[i * step % len(all_codes)] for i in range(math.prod(shape))]).reshaped(shape)


def reshaped(v, shape):
    return Value(v.dtype, v.at.reshape(shape))


Value.reshaped = reshaped


# -- tests --

def value_info(name, dtype, shape):
    info = onnx.ValueInfoProto(name=name)
    info.type.tensor_type.elem_type = dtype
    info.type.tensor_type.shape.SetInParent()
    for d in shape:
        info.type.tensor_type.shape.dim.add().dim_value = d
    return info


def node(op, ins, outs, **attrs):
    return helper.make_node(op, [name.strip("-") for name in ins.split()], outs.split(), **attrs)


def case(nodes, inputs, outputs, opset, weights=(), between=()):
    return {"nodes": nodes, "inputs": inputs, "outputs": outputs, "opset": opset, "weights": dict(weights),
            "between": dict(between)}


def to_float(v):
    return Value(FLOAT, v.numbers())


def shapes_of(dtype):
    return {"odd": (3, 5), "row": (7,), "scalar": (), "empty": (0, 3), "all": (8, (1 << TYPES[dtype][1]) // 8 or 1)}


def casts(dtype, opset):
    """Cast and CastLike, to a wider type and back."""
    back = {"saturate": 0} if TYPES[dtype][1] == 8 else {}
    for how, shape in shapes_of(dtype).items():
        x = codes(dtype, shape)
        wide = to_float(x)
        yield f"cast_to_float_{how}", case([node("Cast", "x", "y", to=FLOAT)], {"x": x}, {"y": wide}, opset)
        x = codes(dtype, shape, finite=True)
        wide = to_float(x)
        yield f"cast_from_float_{how}", case([node("Cast", "x", "y", to=dtype)], {"x": wide}, {"y": x}, opset)
        yield f"cast_there_and_back_{how}", case(
            [node("Cast", "x", "t", to=FLOAT), node("Cast", "t", "y", to=dtype, **back)], {"x": x}, {"y": x}, opset)
    x = codes(dtype, (3, 5), finite=True)
    half = Value(HALF, x.numbers().astype(np.float16))
    yield "cast_to_half", case([node("Cast", "x", "y", to=HALF)], {"x": x}, {"y": half}, opset)
    if dtype != 24:
        yield "cast_from_half", case([node("Cast", "x", "y", to=dtype)], {"x": half}, {"y": x}, opset)
    like = codes(dtype, (1,))
    yield "castlike_from_float", case([node("CastLike", "x l", "y")], {"x": to_float(x), "l": like}, {"y": x}, opset)
    yield "castlike_to_float", case([node("CastLike", "x l", "y")], {"x": x, "l": Value(FLOAT, [0])},
                                    {"y": to_float(x)}, opset)


def casts_in_place(dtype, opset):
    """Casts to types whose elements have a byte, which runtimes write over the input's."""
    whole, bits = TYPES[dtype][0].lstrip("u").startswith("int"), TYPES[dtype][1]
    if bits == 8 or not whole:
        return
    for to, name in ((INT8, "int8"), (UINT8, "uint8"), (BOOL, "bool"), *([(22, "int4")] if bits == 2 else [])):
        x = codes(dtype, (4, 5))
        number = x.numbers().astype(np.int64)
        y = Value(to, number != 0 if to == BOOL else number & 15 if to == 22 else number.astype(PLAIN[to]))
        for cast, like in (("Cast", {}), ("CastLike", {"l": Value(to, np.zeros(1))})):
            ins, how = (" l", {}) if like else ("", {"to": to})
            yield f"{cast.lower()}_of_input_to_{name}", case([node(cast, f"x{ins}", "y", **how)], {"x": x}, {"y": y},
                                                             opset, like)
            yield f"{cast.lower()}_to_{name}", case([node("Cast", "x", "t", to=dtype), node(cast, f"t{ins}", "y", **how)],
                                                    {"x": to_float(x)}, {"y": y}, opset, like)


def beyond(x, q):
    """What gives the least and the largest of whole numbers is far beyond them."""
    number = q.numbers()
    end = (np.isin(number, [number.min(), number.max()]) if "int" in TYPES[q.dtype][0] and q.at.size else False)
    return Value(FLOAT, np.where(end, 5 * x.at, x.at))


def quantised(dtype, opset):
    """QuantizeLinear and DequantizeLinear: of the whole, by axis, by blocks."""
    for how, shape, attrs, scales in (("tensor", (3, 5), {}, ()), ("axis", (3, 5), {"axis": 1}, (5,)),
                                      ("rows", (3, 4), {"axis": 0}, (3,)),
                                      ("blocks", (4, 6), {"axis": 1, "block_size": 2}, (4, 3)),
                                      ("scalar", (), {}, ()), ("empty", (0, 3), {}, ())):
        if how == "blocks" and opset < 21:
            continue
        q = codes(dtype, shape, finite=True)
        scale = np.full(scales, 0.5) * 2.0 ** np.arange(math.prod(scales)).reshape(scales)
        each = scale.repeat(2, 1) if how == "blocks" else scale[:, None] if how == "rows" else scale
        scale, zero = Value(FLOAT, scale), Value(dtype, np.zeros(scales))
        x = Value(FLOAT, q.numbers() * each)
        weights = {"s": scale, "z": zero}
        yield f"quantize_{how}", case([node("QuantizeLinear", "x s z", "y", **attrs)], {"x": beyond(x, q)}, {"y": q},
                                      opset, weights)
        yield f"dequantize_weight_{how}", case(
            [node("DequantizeLinear", "w s z", "t", **attrs), node("Mul", "x t", "y")],
            {"x": Value(FLOAT, np.ones(shape))}, {"y": x}, opset, {**weights, "w": q})
        yield f"dequantize_{how}", case([node("DequantizeLinear", "x s z", "y", **attrs)], {"x": q}, {"y": x}, opset,
                                        weights)
        yield f"quantize_dequantize_{how}", case(
            [node("QuantizeLinear", "x s z", "t", **attrs), node("DequantizeLinear", "t s z", "y", **attrs)],
            {"x": x}, {"y": x}, opset, weights)


def bodies(dtype, opset):
    """If, Loop and Scan, whose bodies hand tensors of the type on."""
    x = codes(dtype, (3, 5))
    branch = {n: helper.make_graph([node("Identity", "x", n)], n, [], [value_info(n, dtype, (3, 5))]) for n in "pq"}
    yield "if", case([node("If", "c", "y", then_branch=branch["p"], else_branch=branch["q"])], {"c": Value(BOOL, True),
                     "x": x}, {"y": x}, opset)
    body = helper.make_graph(
        [node("Identity", "c", "d"), node("Identity", "v", "o"), node("Identity", "v", "s")], "body",
        [value_info("i", INT64, ()), value_info("c", BOOL, ()), value_info("v", dtype, (3, 5))],
        [value_info("d", BOOL, ()), value_info("o", dtype, (3, 5)), value_info("s", dtype, (3, 5))])
    yield "loop", case([node("Loop", "n - x", "y z", body=body)], {"x": x},
                       {"y": x, "z": Value(dtype, np.stack([x.at, x.at]))}, opset, {"n": Value(INT64, 2)})
    body = helper.make_graph([node("Identity", "e", "o")], "body", [value_info("e", dtype, (5,))],
                             [value_info("o", dtype, (5,))])
    yield "scan", case([node("Scan", "x", "y", body=body, num_scan_inputs=1)], {"x": x}, {"y": x}, opset)


def passed_on(dtype, opset):
    """Operators that give the same elements in another order or shape."""
    for how, shape in shapes_of(dtype).items():
        x = codes(dtype, shape)
        yield f"identity_{how}", case([node("Identity", "x", "y")], {"x": x}, {"y": x}, opset)
    x = codes(dtype, (6, 5))
    yield "reshape", case([node("Reshape", "x t", "y")], {"x": x}, {"y": x.reshaped((3, 10))}, opset,
                          {"t": Value(INT64, [3, 10])})
    if opset < 21:
        return
    yield "transpose", case([node("Transpose", "x", "y", perm=[1, 0])], {"x": x}, {"y": Value(dtype, x.at.T)}, opset)
    three = codes(dtype, (3, 1, 5))
    yield "flatten", case([node("Flatten", "x", "y", axis=2)], {"x": three}, {"y": three.reshaped((3, 5))}, opset)
    yield "squeeze", case([node("Squeeze", "x a", "y")], {"x": three}, {"y": three.reshaped((3, 5))}, opset,
                          {"a": Value(INT64, [1])})
    yield "unsqueeze", case([node("Unsqueeze", "x a", "y")], {"x": x}, {"y": x.reshaped((6, 1, 5))}, opset,
                            {"a": Value(INT64, [1])})
    yield "pad", case([node("Pad", "x p", "y")], {"x": x}, {"y": Value(dtype, np.pad(x.at, ((1, 0), (0, 2))))}, opset,
                      {"p": Value(INT64, [1, 0, 0, 2])})


def described(dtype, opset):
    """What has to do with the type and moves no element of it, and several operators in a row."""
    x = codes(dtype, (3, 5))
    yield "shape", case([node("Shape", "x", "y")], {"x": x}, {"y": Value(INT64, [3, 5])}, opset)
    yield "size", case([node("Size", "x", "y")], {"x": x}, {"y": Value(INT64, 15)}, opset)
    yield "constant", case([node("Constant", "", "t", value=x.proto("v")), node("Cast", "t", "f", to=FLOAT),
                            node("Add", "f x", "y")], {"x": Value(FLOAT, np.zeros((3, 5)))}, {"y": to_float(x)}, opset)
    x = codes(dtype, (5, 6), finite=True)
    yield "between", case([node("Cast", "x", "t", to=dtype), node("Cast", "t", "f", to=FLOAT),
                           node("Add", "f f", "y")], {"x": to_float(x)},
                          {"y": Value(FLOAT, 2 * to_float(x).at)}, opset)
    if opset >= 21:
        yield "between_transposed", case(
            [node("Cast", "x", "t", to=dtype), node("Transpose", "t", "u", perm=[1, 0]),
             node("Cast", "u", "f", to=FLOAT), node("Relu", "f", "y")], {"x": to_float(x)},
            {"y": Value(FLOAT, np.maximum(to_float(x).at.T, 0))}, opset)


def all_cases():
    for dtype, (name, _, first) in TYPES.items():
        for opset in sorted({first, max(first, 21), 25}):
            for make in (casts, casts_in_place, quantised, bodies, passed_on, described):
                for what, one in make(dtype, opset):
                    yield f"{name}_{what}_opset{opset}", one


def model_of(one):
    graph = helper.make_graph(one["nodes"], "narrow",
                              [value_info(n, v.dtype, v.at.shape) for n, v in one["inputs"].items()],
                              [value_info(n, v.dtype, v.at.shape) for n, v in one["outputs"].items()],
                              [v.proto(n) for n, v in one["weights"].items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", one["opset"]),
                                                    helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = IR_VERSION.get(one["opset"], 10)
    return model


def write(one, folder):
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data)
    onnx.save(model_of(one), os.path.join(folder, "model.onnx"))
    for kind in ("input", "output"):
        for i, (name, v) in enumerate(one[kind + "s"].items()):
            with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as f:
                f.write(v.proto(name).SerializeToString())


def judge(a, root, form):
    """All layouts of all tests by conform.py."""
    conform = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conform.py")
    how = [] if form == "emulate" else ["--collectives", form]
    meshes = [word for mesh in (a.mesh or MESHES) for word in ("--mesh", mesh)]
    enough = "0.7" if a.every == 1 else "0.5"  # of few tests chance decides which they are
    run = subprocess.run([sys.executable, conform, a.lower_layouts, a.cleave_run, root, *how, *meshes,
                          "--enough", enough, "--every", str(a.every)],
                         capture_output=True, text=True, check=False)
    print(f"{form}:\n{run.stdout}{run.stderr}", end="", flush=True)
    check(run.returncode == 0, f"layouts of {form} fail")


def same_code(dtype, code):
    """A NaN of float8e5m2 stays one of its sign."""
    return code | 3 if dtype == 19 and code & 0x7c == 0x7c and code & 3 else code


def compare_bits(a, root, scratch):
    """Outputs of a type with all of its codes, byte by byte, of each layout that the runtime loads."""
    n = 0
    for folder in sorted(glob.glob(os.path.join(root, "data", "node", "*_all_opset25"))):
        data, name = os.path.join(folder, "test_data_set_0"), os.path.basename(folder)
        want = read_proto(os.path.join(data, "output_0.pb"))
        if want.data_type not in TYPES or outputs(a, os.path.join(folder, "model.onnx"), data, scratch) is None:
            continue
        for how in ([], ["--collectives", "ort"]):
            lines = call(a.lower_layouts, os.path.join(folder, "model.onnx"), "--mesh", "3", "--out",
                         os.path.join(scratch, f"{name}{len(how)}"), *how)
            for line in map(json.loads, lines.splitlines()):
                if "model" not in line:
                    continue
                got = outputs(a, line["model"], data, scratch)
                codes_of = [bytes(same_code(want.data_type, c) for c in t.raw_data) for t in (got, want)]
                check(codes_of[0] == codes_of[1], f"{name} {line['split']} has {codes_of[0].hex()}, expected "
                      f"{codes_of[1].hex()}")
                n += 1
    print(f"{n:7d} outputs with all codes of their type are the same bit for bit")
    return n


def check_refused(a, scratch):
    """An operator set without a Cast for the type: nothing that a run makes of it is split."""
    opset, path = 17, os.path.join(scratch, "old.onnx")
    one = case([node("QuantizeLinear", "x s z", "q", domain="com.microsoft"),
                node("DequantizeLinear", "q s z", "y", domain="com.microsoft")],
               {"x": Value(FLOAT, np.ones((4, 6)))}, {"y": Value(FLOAT, np.ones((4, 6)))}, opset,
               {"s": Value(FLOAT, 0.5), "z": Value(22, 0)})
    onnx.save(model_of(one), path)
    lines = [json.loads(line) for line in
             call(a.lower_layouts, path, "--mesh", "2", "--out", os.path.join(scratch, "old")).splitlines()]
    check(all("=" not in line["split"] for line in lines), f"layouts of an int4 that cannot be cut: {lines}")
    want = "'q' is of INT4, which operator set 17 can neither cut nor join, expected 21 or later"
    check([line["whole"] for line in lines if "whole" in line] == [want, want], f"reasons are {lines}")


def read_proto(path):
    t = TensorProto()
    with open(path, "rb") as f:
        t.ParseFromString(f.read())
    return t


def outputs(a, model, data, scratch):
    """The output of a model or folder; None: the runtime does not run it."""
    out, given = os.path.join(scratch, "out"), os.path.join(data, "input_0.pb")
    shutil.rmtree(out, ignore_errors=True)
    run = subprocess.run([a.cleave_run, "run", model, "-i", given, "-o", out, "-q"], capture_output=True,
                         text=True, check=False)
    return read_proto(os.path.join(out, "output_0.pb")) if run.returncode == 0 else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("lower_layouts")
    p.add_argument("cleave_run")
    p.add_argument("word", nargs="?", default="")
    p.add_argument("--mesh", action="append")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--form", action="append", choices=["emulate", "ort", "tensorrt"])
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as root:
        for name, one in all_cases():
            if a.word in name:
                write(one, os.path.join(root, "data", "node", name))
        for kind in ("simple", "pytorch-operator", "pytorch-converted"):
            os.makedirs(os.path.join(root, "data", kind))
        for form in a.form or ("emulate", "ort", "tensorrt"):
            judge(a, root, form)
        check_refused(a, root)
        check(compare_bits(a, root, root) > 0 or a.word, "nothing was compared bit for bit")


if __name__ == "__main__":
    main()
