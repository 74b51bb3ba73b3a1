"""cases.py - uses of operators, small enough to compute and large enough to split.

    case("Gemm", F(6, 4), F(7, 4), F(7), transB=1)

is an operator, its inputs and attributes; `opset`, `domain` and `out` (number of outputs) are ours.
Sizes 6 and 7 divide evenly and unevenly, by two and by three. The numbers of an input come from
its case's text, so every run has the same. The lists are in cases_*.py.
"""
import zlib

import numpy as np
from onnx import ValueInfoProto, helper, mapping, numpy_helper

MS = "com.microsoft"
IR_VERSION = 10
ALL = []


class Value:
    """An input: its type and shape, and how its numbers are drawn. is_const: an initializer."""

    def __init__(self, text, draw, is_const=False):
        self.text, self.draw, self.is_const = text, draw, is_const


def F(*dims, low=-2.0, high=2.0):
    return Value(f"F{dims}{low}:{high}",
                 lambda r: r.uniform(low, high, dims).astype(np.float32).reshape(dims))


def P(*dims, high=2.0):
    """Above zero."""
    return F(*dims, low=0.25, high=high)


def I(*dims, low=0, high=6, dtype="int64"):
    return Value(f"{dtype}{dims}{low}:{high}",
                 lambda r: np.asarray(r.randint(low, high, dims)).astype(dtype).reshape(dims))


def U8(*dims, low=0, high=256):
    return I(*dims, low=low, high=high, dtype="uint8")


def S8(*dims, low=-128, high=128):
    return I(*dims, low=low, high=high, dtype="int8")


def B(*dims):
    return I(*dims, low=0, high=2, dtype="bool")


def C(numbers, dtype="int64"):
    """A constant."""
    return Value(f"C{numbers}{dtype}", lambda r: np.array(numbers, dtype), True)


def G(numbers, dtype="int64"):
    """Given numbers that are not constant."""
    return Value(f"G{numbers}{dtype}", lambda r: np.array(numbers, dtype))


def W(words, *dims):
    """Strings, some of the given ones."""
    return Value(f"W{words}{dims}", lambda r: np.array(words, object)[
        r.randint(0, len(words), dims)].reshape(dims))


def S(number, dtype="float32"):
    """A constant scalar."""
    return C(number, dtype)


class Case:
    def __init__(self, op, inputs, domain, opset, out, attrs):
        """out: how many outputs, or "y-y" where some are left out."""
        self.op, self.domain, self.opset, self.attrs = op, domain, opset, attrs
        self.outputs = [f"y{i}" if c == "y" else "" for i, c in enumerate(
            out if isinstance(out, str) else "y" * out)]
        self.inputs = inputs
        said = [v.text if v else "-" for v in inputs] + [f"{k}={v}" for k, v in attrs.items()]
        self.text = f"{self.name} ({opset}): " + ", ".join(said)

    @property
    def name(self):
        return f"{self.domain}.{self.op}" if self.domain else self.op

    def opsets(self):
        """Of the standard domain, and of its own."""
        out = {"": self.opset if not self.domain.startswith("ai.") else 17}
        if self.domain:
            out[self.domain] = 1 if self.domain == MS else self.opset
        return out

    @property
    def key(self):
        """Short, and another one where anything of the case changes."""
        return f"{self.name} {zlib.crc32(self.text.encode()):08x}"

    def values(self):
        random = np.random.RandomState(zlib.crc32(self.text.encode()))
        return [v.draw(random) if v else None for v in self.inputs]

    def node(self, values, place=""):
        """(node, inputs that are fed, constants); place sets off its names from other cases'."""
        names = [f"{place}x{i}" if v is not None else "" for i, v in enumerate(values)]
        outs = [place + n if n else "" for n in self.outputs]
        node = helper.make_node(self.op, names, outs, name=place + "node", domain=self.domain,
                                **self.attrs)
        fed, constant = [], []
        for name, value, spec in zip(names, values, self.inputs):
            if name and spec.is_const:
                constant.append(numpy_helper.from_array(value, name))
            elif name:
                fed.append(helper.make_tensor_value_info(
                    name, mapping.NP_TYPE_TO_TENSOR_TYPE[value.dtype], value.shape))
        return node, fed, constant


def model_of(some):
    """One model of all these cases, which must have the same operator sets."""
    parts = [case.node(case.values(), f"{i}_" if len(some) > 1 else "")
             for i, case in enumerate(some)]
    outs = [ValueInfoProto(name=n) for node, _, _ in parts for n in node.output if n]
    graph = helper.make_graph([p[0] for p in parts], "cases", sum((p[1] for p in parts), []), outs,
                              sum((p[2] for p in parts), []))
    opsets = [helper.make_opsetid(d, v) for d, v in some[0].opsets().items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def case(op, *inputs, domain="", opset=17, out=1, attrs=None, **more):
    ALL.append(Case(op, list(inputs), domain, opset, out, {**(attrs or {}), **more}))


def ms(op, *inputs, **rest):
    case(op, *inputs, domain=MS, **rest)


def all_cases():
    if not ALL:
        import cases_arithmetic
        import cases_movement
        import cases_microsoft
        import cases_ml
        for module in (cases_arithmetic, cases_movement, cases_ml, cases_microsoft):
            module.register()
    return ALL
