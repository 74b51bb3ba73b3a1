"""graph_maker.py - small random graphs of many operators, each valid by ONNX's checker.

make(seed) gives a model; equal seeds give equal bytes. A graph grows node by node: a template of
random_nodes.py picks tensors that are there already and adds a node or a few to them, and what ONNX's
shape inference, in its strict mode, does not take is not added. Sizes are awkward on purpose: 0, 1
and primes that no mesh divides.

Where rounding decides what comes out, an ArgMax, a Round, a comparison, only tensors are taken that
hold the same bits however sums are ordered (Value.exact), and where a function makes errors grow,
only tensors of small numbers (Value.size).
"""
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

import random_nodes
from random_nodes import Unfit

ELEMENTS_MAX = 3000  # of a tensor
CHECKED = 17         # the last opset that onnx 1.12 knows; later ones are made of it by lift()


class Value:
    """A tensor: exact if it is the same bits in any order of sums, of numbers not above size."""

    def __init__(self, name, dtype, shape, exact=True, size=1.0, constant=None):
        self.name, self.dtype, self.shape = name, dtype, tuple(shape)
        self.exact, self.size, self.constant = exact, size, constant
        self.rank = len(self.shape)

    def info(self):
        return helper.make_tensor_value_info(self.name, self.dtype, self.shape)


class Maker:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.numbers = np.random.RandomState(seed % 2 ** 32)
        self.opset = self.rng.choice((11, 12, 13, 13, 14, 15, 16, 17, 17, 17, 18, 19, 20, 21))
        self.form = min(self.opset, CHECKED)
        self.dims = [self.rng.choice((2, 3, 4, 5, 6, 7, 8, 11)) for _ in range(3)]
        self.values, self.inputs, self.weights, self.nodes = [], [], [], []
        self.functions = []
        self.made = 0

    # -- choosing --

    def chance(self, p):
        return self.rng.random() < p

    def dim(self):
        return self.rng.choice(self.dims * 4 + [1, 1, 1, 2, 3, 5, 7] + [0] * self.chance(0.1))

    def shape(self, rank=None):
        if rank is None:
            rank = self.rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6))
        dims = [self.dim() for _ in range(rank)]
        while np.prod(dims) > ELEMENTS_MAX / 4:
            dims[self.rng.randrange(rank)] = self.rng.choice((1, 2, 3))
        return tuple(dims)

    def pick(self, types=random_nodes.FLOATS, ranks=range(7), exact=False, fits=lambda v: True):
        """A tensor of one of the types and ranks, likelier one that was made of late."""
        able = [v for v in self.values if v.dtype in types and v.rank in ranks
                and (v.exact or not exact) and fits(v)]
        if not able:
            raise Unfit
        return able[max(self.rng.randrange(len(able)), self.rng.randrange(len(able)))]

    def tame(self, v):
        """v, or where its numbers may be large what Softsign makes of them."""
        return v if v.size <= 4 else self.node("Softsign", [v], size=1)[0]

    # -- adding --

    def name(self, prefix):
        self.made += 1
        return f"{prefix}{self.made}"

    def input(self, dtype, shape):
        v = Value(self.name("x"), dtype, shape, True, 1)
        self.inputs.append(v)
        self.values.append(v)
        return v

    def weight(self, array):
        """Scalars and lists of integers that steer an operator, too."""
        array = np.asarray(array)
        v = Value(self.name("w"), onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], array.shape, True,
                  float(np.abs(array.astype(np.float64)).max()) if array.size else 0.0, array)
        if self.chance(0.15):
            self.nodes.append(helper.make_node("Constant", [], [v.name],
                                               value=numpy_helper.from_array(array, "")))
        else:
            self.weights.append(numpy_helper.from_array(array, v.name))
        return v

    def floats(self, shape, dtype=TensorProto.FLOAT):
        return self.weight(self.numbers.uniform(-1, 1, shape).astype(
            onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[dtype]))

    def shared(self, shape, dtype=TensorProto.FLOAT):
        """Weights of that shape: those of another node, if there are any."""
        have = [v for v in self.values if v.constant is not None and v.shape == tuple(shape)
                and v.dtype == dtype]
        if have and self.chance(0.5):
            return self.rng.choice(have)
        v = self.floats(shape, dtype)
        self.values.append(v)
        return v

    def ints(self, values):
        return self.weight(np.array(values, np.int64))

    def indices(self, n, shape):
        """Integers from -n to n - 1."""
        if n == 0:
            raise Unfit
        return self.weight(self.numbers.randint(-n, n, shape).astype(np.int64))

    def node(self, op, ins, outs=1, exact=False, size=None, domain="", shapes=None, **attrs):
        """Its outputs; an input None is left out. exact: the operator rounds nothing anew. shapes: of
        outputs, where they follow from values that inference does not see."""
        names = [v.name if v is not None else "" for v in ins]
        while names and not names[-1]:
            names.pop()
        given = [v for v in ins if v is not None]
        node = helper.make_node(op, names, [self.name("t") for _ in range(outs)],
                                domain=domain, **attrs)
        if self.chance(0.8):
            node.name = f"{op}_{self.made}"
        types = self.types_of(node, given, shapes)
        exact = exact and all(v.exact for v in given)
        if size is None:
            size = max([v.size for v in given], default=1)
        made = [Value(n, *types[n], exact, size) for n in node.output]
        if any(np.prod(v.shape) > ELEMENTS_MAX for v in made):
            raise Unfit
        self.nodes.append(node)
        self.values += made
        return made

    def add(self, node, shape, dtype, exact, size, more=()):
        """A node with bodies or of a function, which say their types themselves."""
        self.nodes.append(node)
        for name, dims in zip(node.output, [shape, *more]):
            self.values.append(Value(name, dtype, dims, exact, size))

    def types_of(self, node, given, shapes):
        given = list({v.name: v for v in given}.values())
        graph = helper.make_graph([node], "one", [v.info() for v in given], [], [
            numpy_helper.from_array(v.constant, v.name) for v in given if v.constant is not None])
        model = helper.make_model(graph, opset_imports=self.opsets(), functions=self.functions)
        model.ir_version = 8
        try:
            reported = shape_inference.infer_shapes(model, True, True, True).graph.value_info
        except Exception as e:
            raise Unfit(str(e)) from e
        types = {}
        for t in reported:
            tensor = t.type.tensor_type
            if not t.type.HasField("tensor_type"):
                raise Unfit
            dims = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
            types[t.name] = (tensor.elem_type, dims if tensor.HasField("shape") else None)
        for i, name in enumerate(node.output):
            if name not in types:
                raise Unfit
            dtype, dims = types[name]
            if shapes:
                dims = shapes[i]
            if dims is None or None in dims or min(dims, default=0) < 0:
                raise Unfit
            types[name] = (dtype, tuple(dims))
        return types

    def opsets(self):
        others = {n.domain for n in self.nodes} | {"local" for _ in self.functions}
        return [helper.make_opsetid("", self.form)] + [helper.make_opsetid(d, 1)
                                                       for d in sorted(others) if d]

    def grow(self):
        """One template more, or none if it does not fit."""
        marks = [len(x) for x in (self.values, self.weights, self.nodes, self.inputs)]
        functions = list(self.functions)
        template = self.rng.choices(*random_nodes.TEMPLATES)[0]
        try:
            template(self)
            return True
        except Unfit:
            for x, mark in zip((self.values, self.weights, self.nodes, self.inputs), marks):
                del x[mark:]
            self.functions = functions
            return False

    # -- the whole --

    def outputs(self):
        """What nobody takes, mostly; some of what is taken; at times an input."""
        taken = {n for node in self.nodes for n in node.input}
        made = [v for v in self.values if v.constant is None and v not in self.inputs]
        chosen = [v for v in made if self.chance(0.9 if v.name not in taken else 0.15)]
        chosen += [v for v in self.inputs if self.chance(0.03)]
        chosen += [v for v in self.values if v.constant is not None and self.chance(0.01)]
        self.rng.shuffle(chosen)
        return chosen or made[-1:]

    def leave_out(self, outputs):
        """Optional outputs that nobody takes get no name, some of them."""
        kept = {v.name for v in outputs} | {n for node in self.nodes for n in node.input}
        for node in self.nodes:
            for i in range(FIRST_OPTIONAL.get(node.op_type, len(node.output)), len(node.output)):
                if node.output[i] not in kept and self.chance(0.5):
                    node.output[i] = ""

    def model(self):
        inputs, outputs = [v.info() for v in self.inputs], self.outputs()
        self.leave_out(outputs)
        graph = helper.make_graph(self.nodes, "random", inputs, [v.info() for v in outputs],
                                  self.weights)
        model = helper.make_model(graph, opset_imports=self.opsets(), functions=self.functions)
        model.ir_version = 8
        onnx.checker.check_model(model)
        shape_inference.infer_shapes(model, True, True)
        return lift(model, self.opset)

    def open_a_size(self, model):
        """At times a size of the inputs becomes a symbol; what it is bound to."""
        n = self.rng.choice(self.dims)
        if not self.chance(0.25):
            return []
        for v in [*model.graph.input, *model.graph.output]:
            for d in v.type.tensor_type.shape.dim:
                if d.dim_value == n:
                    d.dim_param = "n"
        return [f"n={n}"] if "n" in symbols(model) else []


def symbols(model):
    return {d.dim_param for v in model.graph.input for d in v.type.tensor_type.shape.dim}


# The number of outputs that are not optional.
FIRST_OPTIONAL = {"LSTM": 0, "GRU": 0, "RNN": 0, "LayerNormalization": 1, "Dropout": 1, "MaxPool": 1}
# Attributes of opset 17 that are inputs in 18.
AXES_TO_INPUT = {"ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2",
                 "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}


def lift(model, opset):
    """A model of opset 17 in the words of a later one."""
    if opset <= CHECKED:
        return model
    for node in model.graph.node:
        if node.op_type in AXES_TO_INPUT:
            for i, a in enumerate(node.attribute):
                if a.name == "axes":
                    axes = node.output[0] + "_axes"
                    model.graph.initializer.append(
                        numpy_helper.from_array(np.array(a.ints, np.int64), axes))
                    node.input.append(axes)
                    del node.attribute[i]
                    break
        elif node.op_type == "Split" and len(node.input) == 1:
            node.attribute.append(helper.make_attribute("num_outputs", len(node.output)))
    for holder in [model] + list(model.functions):
        for one in holder.opset_import:
            if one.domain == "":
                one.version = opset
    return model


def make(seed):
    """The model of a seed, and the sizes of its symbols; None if what came out is not valid."""
    m = Maker(seed)
    for _ in range(m.rng.randint(1, 3)):
        m.input(TensorProto.FLOAT, m.shape())
    for _ in range(m.rng.randint(0, 2)):
        m.input(m.rng.choice((TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL,
                              TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT64,
                              TensorProto.UINT8, TensorProto.INT8)), m.shape())
    wanted = m.rng.randint(2, 14)
    for _ in range(wanted * 6):
        if len(m.nodes) >= wanted:
            break
        m.grow()
    if all(n.op_type == "Constant" for n in m.nodes):
        return None, []
    try:
        model = m.model()
    except (onnx.checker.ValidationError, shape_inference.InferenceError):
        return None, []
    return (model, m.open_a_size(model)) if model.graph.output else (None, [])
