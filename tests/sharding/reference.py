"""reference.py - what each deterministic operator computes, in plain numpy.

    outputs = run_node(node, inputs, opset)       one NodeProto; missing inputs are None
    values = run_graph(graph, feeds, opset)       all nodes in file order

A kernel is a function of a Call (attributes, operator set, number of outputs) and the inputs; it
returns an array, or a tuple of them. Kernels are written from the operators' specifications, for
clarity and not for speed. They stand in ref_*.py by family; check_reference.py holds them against
ONNX's own test data.
"""
import numpy as np
from onnx import helper, numpy_helper

KERNELS = {}  # (domain, operator) -> kernel

MS = "com.microsoft"


def kernel(*names, domain=""):
    """Registers the function below it as the kernel of these operators."""
    def register(function):
        for name in names:
            KERNELS[(domain, name)] = function
        return function
    return register


def attribute_value(attribute):
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return [v.decode() for v in value]
    return value


class Call:
    """One use of an operator."""

    def __init__(self, op, domain="", opset=17, n_out=1, attrs=None):
        self.op, self.domain, self.opset, self.n_out = op, domain, opset, n_out
        self.attrs = dict(attrs or {})

    def attr(self, name, default=None):
        return self.attrs.get(name, default)

    def axis(self, rank, name="axis", default=0):
        axis = int(self.attrs.get(name, default))
        return axis + rank if axis < 0 else axis


def call_of(node, opset):
    domain = "" if node.domain == "ai.onnx" else node.domain
    attrs = {a.name: attribute_value(a) for a in node.attribute}
    return Call(node.op_type, domain, opset, len(node.output), attrs)


def run_call(call, inputs):
    """A tuple of outputs."""
    found = KERNELS[(call.domain, call.op)]
    with np.errstate(all="ignore"):
        out = found(call, *inputs)
    return out if isinstance(out, tuple) else (out,)


def run_node(node, inputs, opset):
    return run_call(call_of(node, opset), inputs)


def run_graph(graph, feeds, opset):
    values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    values.update(feeds)
    for node in graph.node:
        outputs = run_node(node, [values[n] if n else None for n in node.input], opset)
        values.update({name: v for name, v in zip(node.output, outputs) if name})
    return values


def has_kernels(graph):
    return all(("" if n.domain == "ai.onnx" else n.domain, n.op_type) in KERNELS
               for n in graph.node)


def axes_of(call, given, rank, default=None):
    """Axes from an input, or the attribute of older operator sets; counted from 0."""
    axes = given if given is not None else call.attr("axes")
    if axes is None:
        return default
    return tuple(int(a) + rank if a < 0 else int(a) for a in np.asarray(axes).ravel())


# Each registers its kernels.
import ref_elementwise  # noqa: E402,F401
import ref_reduce  # noqa: E402,F401
import ref_contract  # noqa: E402,F401
import ref_conv  # noqa: E402,F401
import ref_norm  # noqa: E402,F401
import ref_move  # noqa: E402,F401
import ref_index  # noqa: E402,F401
import ref_quant  # noqa: E402,F401
import ref_attention  # noqa: E402,F401
import ref_rnn  # noqa: E402,F401
import ref_text  # noqa: E402,F401
import ref_ml  # noqa: E402,F401
import ref_ms  # noqa: E402,F401
