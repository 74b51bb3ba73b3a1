"""random_nodes.py - the templates of graph_maker.py: each adds a node or a few to a graph."""
import math

import numpy as np
from onnx import TensorProto, helper, mapping

FLOAT, DOUBLE, HALF = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16
INT64, INT32 = TensorProto.INT64, TensorProto.INT32
REAL = (FLOAT, DOUBLE)
FLOATS = (FLOAT, DOUBLE, HALF)
ANY = (FLOAT, FLOAT, FLOAT, DOUBLE, HALF, INT64, INT32, TensorProto.BOOL, TensorProto.UINT8,
       TensorProto.INT8)
NUMBERS = (FLOAT, DOUBLE, INT64, INT32)
BOOL = (TensorProto.BOOL,)


class Unfit(Exception):
    """The graph has nothing that the template could take, or what it would make is not valid."""


def axis_of(m, v, beyond=0):
    """An axis of v, at times counted from the end."""
    n = v.rank + beyond
    if n == 0:
        raise_unfit()
    a = m.rng.randrange(n)
    return a - n if m.chance(0.4) else a


def raise_unfit():
    raise Unfit


def numpy_type(dtype):
    return mapping.TENSOR_TYPE_TO_NP_TYPE[dtype]


# -- element by element --

def unary(m):
    exact = ("Abs", "Neg", "Relu", "Identity", "LeakyRelu", "ThresholdedRelu", "HardSigmoid")
    smooth = ("Sigmoid", "Tanh", "Softsign", "Erf", "Softplus", "Elu", "Selu", "Sin", "Cos", "Exp",
              "Atan", "Celu", "HardSwish" if m.form >= 14 else "Elu")
    steps = ("Ceil", "Floor", "Round", "Sign", "IsNaN", "IsInf")
    kind = m.rng.choice((exact, smooth, steps))
    op = m.rng.choice(kind)
    if kind is smooth:
        v = m.tame(m.pick())
        m.node(op, [v], size=max(4 * v.size, 60 if op == "Exp" else 1))
    else:
        m.node(op, [m.pick(exact=kind is steps)], exact=True)


def roots(m):
    v = m.tame(m.pick(REAL))
    half = m.weight(np.array(0.5, numpy_type(v.dtype)))
    v = m.node("Add", [m.node("Abs", [v], exact=True)[0], half], size=v.size + 1)[0]
    m.node(m.rng.choice(("Sqrt", "Log", "Reciprocal")), [v], size=max(2, v.size))


def beside(m, v):
    """A tensor that broadcasts with v: one that is there, or weights of a shape that does."""
    def fits(o):
        return all(a == b or 1 in (a, b) for a, b in zip(v.shape[::-1], o.shape[::-1]))
    if m.chance(0.6):
        return m.pick((v.dtype,), fits=fits)
    shape = [1 if m.chance(0.3) else d for d in v.shape[m.rng.randrange(v.rank + 1):]]
    if m.chance(0.1) and len(shape) == v.rank and v.rank < 5:
        shape = [m.rng.choice((1, 2, 3))] + shape
    if v.dtype in (FLOAT, DOUBLE, HALF):
        return m.shared(shape, v.dtype)
    return m.weight(m.numbers.randint(0, 2, shape).astype(numpy_type(v.dtype)))


def ordered(m, a, b):
    return [a, b] if m.chance(0.5) else [b, a]


def binary(m):
    a = m.pick(NUMBERS + (HALF, FLOAT))
    b = beside(m, a)
    op = m.rng.choice(("Add", "Sub", "Mul"))
    size = a.size * b.size if op == "Mul" else a.size + b.size
    if size > 1e4:
        raise_unfit()
    m.node(op, ordered(m, a, b), exact=True, size=size)


def divide(m):
    a = m.tame(m.pick(REAL))
    b = m.tame(beside(m, a))
    half = m.weight(np.array(0.5, numpy_type(b.dtype)))
    b = m.node("Add", [half, m.node("Abs", [b], exact=True)[0]], size=b.size + 1)[0]
    m.node("Div", [a, b], size=a.size * 2)


def power(m):
    v = m.tame(m.pick((FLOAT,)))
    m.node("Pow", [v, m.weight(np.array(m.rng.choice((1, 2, 3)),
                                        m.rng.choice((np.float32, np.int64)) if m.form >= 12
                                        else np.float32))], size=v.size ** 3)


def integers(m):
    a = m.pick((INT64, INT32), exact=True)
    three = m.weight(np.array(m.rng.choice((2, 3)), numpy_type(a.dtype)))
    m.node(m.rng.choice(("Mod", "Div")), [a, three], exact=True, size=a.size + 3)


def variadic(m):
    a = m.pick((FLOAT, DOUBLE))
    ins = [a] + [beside(m, a) for _ in range(m.rng.randint(0, 3))]
    m.rng.shuffle(ins)
    op = m.rng.choice(("Sum", "Max", "Min", "Mean"))
    m.node(op, ins, exact=op in ("Max", "Min"), size=sum(v.size for v in ins))


def compare(m):
    a = m.pick(NUMBERS, exact=True)
    b = beside(m, a)
    if not b.exact:
        raise_unfit()
    ops = ["Less", "Greater", "Equal"] + ["LessOrEqual", "GreaterOrEqual"] * (m.form >= 12)
    m.node(m.rng.choice(ops), ordered(m, a, b), exact=True, size=1)


def logic(m):
    a = m.pick(BOOL)
    if m.chance(0.3):
        m.node("Not", [a], exact=True)
    else:
        m.node(m.rng.choice(("And", "Or", "Xor")), ordered(m, a, beside(m, a)), exact=True)


def where(m):
    c = m.pick(BOOL)
    def fits(o):
        return all(a == b or 1 in (a, b) for a, b in zip(c.shape[::-1], o.shape[::-1]))
    a = m.pick(NUMBERS, fits=fits)
    m.node("Where", [c] + ordered(m, a, beside(m, a)), exact=True)


def cast(m):
    to = m.rng.choice((FLOAT, FLOAT, DOUBLE, HALF, TensorProto.BFLOAT16, INT32, INT64,
                       TensorProto.BOOL))
    v = m.pick(ANY, exact=to not in REAL)
    v = m.node("Cast", [v], exact=True, to=to)[0]
    if to == TensorProto.BFLOAT16:
        m.node("Cast", [v], exact=True, to=FLOAT)


def clip(m):
    v = m.pick((FLOAT, DOUBLE))
    lo, hi = (m.weight(np.array(x, numpy_type(v.dtype))) if m.chance(0.7) else None
              for x in (-0.5, 0.6))
    m.node("Clip", [v, lo, hi], exact=True)


def prelu(m):
    v = m.pick((FLOAT,))
    shape = [1 if m.chance(0.4) else d for d in v.shape[m.rng.randrange(v.rank + 1):]]
    m.node("PRelu", [v, m.shared(shape)], exact=True)


def passing(m):
    op = m.rng.choice(("Identity", "Identity", "Dropout"))
    v = m.pick(FLOATS if op == "Dropout" else ANY)
    if op == "Dropout":
        m.node("Dropout", [v], outs=m.rng.choice((1, 2)), exact=True)
    else:
        for _ in range(m.rng.randint(1, 3)):
            v = m.node("Identity", [v], exact=True)[0]


# -- contractions --

def sums_of(m, v, n, size=1.0):
    """The size of a sum of n products."""
    size = v.size * size * max(n, 1)
    if size > 1e4:
        raise_unfit()
    return size


def matmul(m):
    a = m.pick((FLOAT, FLOAT, DOUBLE), ranks=range(1, 7))
    k = a.shape[-1]
    if m.chance(0.3):
        b = m.pick((a.dtype,), ranks=range(1, 5),
                   fits=lambda o: o.shape[-2 if o.rank > 1 else 0] == k)
    else:
        lead = [1 if m.chance(0.3) else d for d in a.shape[:-2]]
        lead = lead[m.rng.randrange(len(lead) + 1):]
        b = m.shared(m.rng.choice(((k,), (k, m.dim()), (k, m.dim()), (*lead, k, m.dim()))), a.dtype)
    m.node("MatMul", [a, b], size=sums_of(m, a, k, b.size))


def gemm(m):
    a = m.pick((FLOAT,), ranks=(2,))
    ta, tb = m.rng.randint(0, 1), m.rng.randint(0, 1)
    rows, k = a.shape[::-1] if ta else a.shape
    n = m.dim()
    b = m.shared((n, k) if tb else (k, n))
    c = m.rng.choice((None, (n,), (1, n), (rows, 1), (rows, n), (), (1,), (1, 1)))
    attrs = {"alpha": 0.5} if m.chance(0.3) else {}
    attrs.update({"beta": 2.0} if m.chance(0.3) else {})
    m.node("Gemm", [a, b, None if c is None else m.shared(c)], transA=ta, transB=tb,
           size=sums_of(m, a, k) + 2, **attrs)


EQUATIONS = ("ij,jk->ik", "ij,jk", "bij,bjk->bik", "bij,kj->bik", "...ij,jk->...ik", "bhid,bhjd->bhij",
             "ij->ji", "ij->i", "bij->", "ij,ij->", "ij,ij->ij", "i,j->ij", "bij,bj->bi", "ii->i",
             "bsd,dhk->bhsk", "i,i", "...i,...i->...")


def einsum(m):
    if m.form < 12:
        raise_unfit()
    equation = m.rng.choice(EQUATIONS)
    terms = equation.split("->")[0].split(",")
    letters = terms[0].replace("...", "")
    a = m.pick((FLOAT,), ranks=range(len(letters), 7) if "..." in terms[0] else (len(letters),))
    known = dict(zip(letters, a.shape[a.rank - len(letters):]))
    ins = [a]
    if len(terms) == 2:
        shape = [known.setdefault(x, m.dim()) for x in terms[1].replace("...", "")]
        if "..." in terms[1]:
            shape = list(a.shape[:a.rank - len(letters)]) + shape
        ins.append(m.shared(shape))
    m.node("Einsum", ins, equation=equation, size=sums_of(m, a, np.prod(a.shape)))


def window(m, v, k_max=3):
    """Attributes of a window over the dimensions behind the second, and its size."""
    n = v.rank - 2
    kernel = [m.rng.randint(1, min(k_max, d)) if d else raise_unfit() for d in v.shape[2:]]
    attrs = {}
    if m.chance(0.5):
        attrs["strides"] = [m.rng.randint(1, 3) for _ in range(n)]
    if m.chance(0.2):
        attrs["auto_pad"] = m.rng.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    elif m.chance(0.5):
        attrs["pads"] = [m.rng.randint(0, k - 1) for k in kernel * 2]
    return kernel, attrs


def conv(m):
    v = m.pick((FLOAT,), ranks=(3, 4, 5))
    c = v.shape[1]
    group = m.rng.choice([g for g in range(1, c + 1) if c % g == 0] or [0])
    if group == 0:
        raise_unfit()
    kernel, attrs = window(m, v)
    if m.chance(0.2) and "auto_pad" not in attrs:
        attrs["dilations"] = [m.rng.randint(1, 2) for _ in kernel]
    each = m.rng.randint(1, 3)
    if m.chance(0.3):
        attrs.pop("auto_pad", None)
        attrs.pop("dilations", None)
        w = m.shared((c, each, *kernel))
        bias = m.shared((group * each,)) if m.chance(0.5) else None
        if m.chance(0.3):
            attrs["output_padding"] = [m.rng.randint(0, s - 1) for s in
                                       attrs.get("strides", [1] * len(kernel))]
        op = "ConvTranspose"
    else:
        w = m.shared((group * each, c // group, *kernel))
        bias = m.shared((group * each,)) if m.chance(0.5) else None
        op = "Conv"
    m.node(op, [v, w, bias], group=group, kernel_shape=kernel,
           size=sums_of(m, v, c * int(np.prod(kernel))), **attrs)


def starts_in_padding(v, kernel, attrs):
    """Where sizes are rounded up a last window may; later versions of ONNX leave it out."""
    n = len(kernel)
    for i, d in enumerate(v.shape[2:]):
        stride, pads = attrs.get("strides", [1] * n)[i], attrs.get("pads", [0] * 2 * n)
        last = -(-(d + pads[i] + pads[n + i] - kernel[i]) // stride)
        if last * stride >= d + pads[i]:
            return True
    return False


def pool(m):
    v = m.pick((FLOAT,), ranks=(3, 4, 5))
    op = m.rng.choice(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool"))
    if op.startswith("Global"):
        m.node(op, [v], exact="Max" in op)
        return
    kernel, attrs = window(m, v, 4)
    if op != "LpPool" and m.chance(0.3) and not starts_in_padding(v, kernel, attrs):
        attrs["ceil_mode"] = 1
    if op == "AveragePool" and m.chance(0.4):
        attrs["count_include_pad"] = 1
    if op == "MaxPool" and "auto_pad" not in attrs and m.chance(0.2):
        attrs["dilations"] = [m.rng.randint(1, 2) for _ in kernel]
    m.node(op, [v], kernel_shape=kernel, exact=op == "MaxPool",
           outs=2 if op == "MaxPool" and v.exact and m.chance(0.1) else 1,
           size=v.size * (np.prod(kernel) if op == "LpPool" else 1), **attrs)


def whole_numbers(m):
    v = m.pick((TensorProto.UINT8, TensorProto.INT8), ranks=range(1, 5))
    k = v.shape[-1]
    w = m.weight(m.numbers.randint(0, 100, (k, m.dim())).astype(np.uint8))
    zero = m.weight(np.array(3, numpy_type(v.dtype))) if m.chance(0.5) else None
    w_zero = m.weight(m.numbers.randint(0, 9, w.shape[1:] if m.chance(0.5) else ())
                      .astype(np.uint8)) if m.chance(0.5) else None
    if w.dtype != TensorProto.UINT8:
        raise_unfit()
    m.node("MatMulInteger", [v, w, zero, w_zero], exact=True, size=1e9)


# -- along axes --

def reduce(m):
    op = m.rng.choice(("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSumExp", "SumSquare"))
    types = NUMBERS if op in ("Sum", "Max", "Min") else (FLOAT,)
    v = m.pick(types)
    if op in ("LogSumExp", "Prod"):
        v = m.tame(v)
    axes = sorted(m.rng.sample(range(v.rank), m.rng.randint(0, v.rank)))
    n = math.prod(v.shape[a] for a in axes) if axes else math.prod(v.shape)
    if 0 in v.shape:
        raise_unfit()  # the runtime gives something of another shape
    size = {"Sum": v.size * n, "L1": v.size * n, "L2": v.size * n, "SumSquare": v.size ** 2 * n,
            "LogSumExp": v.size + math.log(n + 1)}.get(op, v.size)
    if op == "Prod":
        size = max(v.size, 1) ** n
    if size > 1e4:
        raise_unfit()
    axes = [a - v.rank if m.chance(0.4) else a for a in axes]
    attrs = {"keepdims": m.rng.randint(0, 1)} if m.chance(0.8) else {}
    ins = [v]
    if op == "Sum" and m.form >= 13:
        if axes or m.chance(0.3):
            ins.append(m.ints(axes))
        if not axes and m.chance(0.5):
            attrs["noop_with_empty_axes"] = 1
    elif axes:
        attrs["axes"] = axes
    exact = op in ("Max", "Min") or v.dtype in (INT64, INT32)
    m.node("Reduce" + op, ins, exact=exact, size=size, **attrs)


def along(m):
    op = m.rng.choice(("Softmax", "Softmax", "LogSoftmax", "Hardmax"))
    v = m.pick((FLOAT,), ranks=range(1, 7), exact=op == "Hardmax")
    attrs = {"axis": axis_of(m, v)} if m.chance(0.8) else {}
    m.node(op, [m.tame(v) if op != "Hardmax" else v], exact=op == "Hardmax", size=5, **attrs)


def arg(m):
    v = m.pick((FLOAT, INT32), ranks=range(1, 7), exact=True)
    attrs = {"keepdims": m.rng.randint(0, 1)} if m.chance(0.7) else {}
    if m.chance(0.3) and m.form >= 12:
        attrs["select_last_index"] = 1
    axis = axis_of(m, v)
    if v.shape[axis] == 0:
        raise_unfit()
    m.node(m.rng.choice(("ArgMax", "ArgMin")), [v], axis=axis, exact=True, size=v.shape[axis],
           **attrs)


def top_k(m):
    v = m.pick((FLOAT,), ranks=range(1, 6), exact=True)
    axis = axis_of(m, v)
    if v.shape[axis] == 0:
        raise_unfit()
    k = m.ints([m.rng.randint(1, v.shape[axis])])
    attrs = {"largest": m.rng.randint(0, 1)} if m.chance(0.5) else {}
    m.node("TopK", [v, k], outs=2, exact=True, axis=axis, **attrs)


def running_sum(m):
    v = m.pick((FLOAT, DOUBLE, INT32), ranks=range(1, 6))
    axis = axis_of(m, v)
    m.node("CumSum", [v, m.weight(np.array(axis, m.rng.choice((np.int64, np.int32))))],
           exclusive=m.rng.randint(0, 1), reverse=m.rng.randint(0, 1),
           exact=v.dtype == INT32, size=sums_of(m, v, v.shape[axis]))


def norm(m):
    v = m.tame(m.pick((FLOAT,), ranks=range(2, 6)))
    op = m.rng.choice(("BatchNormalization", "InstanceNormalization", "LpNormalization", "LRN",
                       "MeanVarianceNormalization", "LayerNormalization", "LayerNormalization"))
    if op == "LayerNormalization":
        if m.form < 17:
            raise_unfit()
        axis = axis_of(m, v)
        shape = v.shape[axis % v.rank:]
        m.node(op, [v, m.shared(shape), m.shared(shape) if m.chance(0.6) else None], axis=axis,
               outs=m.rng.choice((1, 1, 3)), epsilon=0.1, size=9)
    elif op == "LpNormalization":
        m.node(op, [v], axis=axis_of(m, v), p=m.rng.choice((1, 2)), size=2)
    elif op == "LRN":
        if v.rank != 4:
            raise_unfit()
        m.node(op, [v], size=m.rng.choice((1, 3, 5)))
    elif op == "MeanVarianceNormalization":
        if v.rank != 4:
            raise_unfit()
        m.node(op, [v], axes=m.rng.choice(([0, 2, 3], [0, 1, 2, 3], [2, 3])), size=9)
    elif op == "InstanceNormalization":
        if v.rank < 3:
            raise_unfit()
        m.node(op, [v, m.shared(v.shape[1:2]), m.shared(v.shape[1:2])], epsilon=0.1, size=9)
    else:
        c = v.shape[1]
        var = m.weight(m.numbers.uniform(0.5, 1, c).astype(np.float32))
        m.node(op, [v] + [m.shared((c,)) for _ in range(3)] + [var], size=v.size * 2 + 3)


# -- moving --

def target(m, dims, of=None):
    """dims as an input: a constant, or worked out from the shape of a tensor at run time."""
    if of is None or not m.chance(0.4):
        return m.ints(dims)
    shape = m.node("Shape", [of], exact=True)[0]
    parts = []
    for d in dims:
        if d in of.shape and m.chance(0.7):
            at = m.ints([of.shape.index(d)])
            parts.append(m.node("Gather", [shape, at], axis=0, exact=True)[0])
        else:
            parts.append(m.ints([d]))
    if not parts:
        return m.ints(dims)
    return m.node("Concat", parts, axis=0, exact=True)[0]


def reshape(m):
    v = m.pick(ANY)
    n, dims = math.prod(v.shape), []
    if n == 0:
        dims = list(v.shape) + [1]
        m.rng.shuffle(dims)
    elif v.rank > 1 and m.chance(0.4):
        a = m.rng.randrange(v.rank - 1)
        dims = [*v.shape[:a], v.shape[a] * v.shape[a + 1], *v.shape[a + 2:]]
    else:
        while n > 1 and len(dims) < 5:
            d = m.rng.choice([d for d in range(2, n + 1) if n % d == 0])
            dims.append(d)
            n //= d
        dims += [n] if n > 1 else []
        m.rng.shuffle(dims)
        if m.chance(0.3):
            dims.insert(m.rng.randrange(len(dims) + 1), 1)
    written, shapes = list(dims), [dims]
    if written and math.prod(dims) and m.chance(0.4):
        written[m.rng.randrange(len(written))] = -1
    elif math.prod(dims):
        for i, d in enumerate(written):
            if i < v.rank and v.shape[i] == d and m.chance(0.3):
                written[i] = 0
    elif m.form >= 14:
        m.node("Reshape", [v, m.ints(written)], exact=True, allowzero=1, shapes=shapes)
        return
    else:
        raise_unfit()
    m.node("Reshape", [v, target(m, written, v)], exact=True, shapes=shapes)


def flatten(m):
    v = m.pick(ANY)
    attrs = {"axis": m.rng.randint(-v.rank, v.rank)} if m.chance(0.7) else {}
    if v.rank == 0:
        raise_unfit()
    m.node("Flatten", [v], exact=True, **attrs)


def squeeze(m):
    v = m.pick(ANY, fits=lambda v: 1 in v.shape)
    axes = [a - v.rank if m.chance(0.4) else a for a, d in enumerate(v.shape)
            if d == 1 and m.chance(0.6)]
    if not axes:
        m.node("Squeeze", [v], exact=True)
    elif m.form >= 13:
        m.node("Squeeze", [v, m.ints(axes)], exact=True)
    else:
        m.node("Squeeze", [v], axes=axes, exact=True)


def unsqueeze(m):
    v = m.pick(ANY, ranks=range(5))
    n = m.rng.randint(1, 2)
    axes = m.rng.sample(range(v.rank + n), n)
    axes = sorted(a - v.rank - n if m.chance(0.3) else a for a in axes)
    if m.form >= 13:
        m.node("Unsqueeze", [v, m.ints(axes)], exact=True)
    else:
        m.node("Unsqueeze", [v], axes=axes, exact=True)


def transpose(m):
    v = m.pick(ANY)
    perm = list(range(v.rank))
    m.rng.shuffle(perm)
    m.node("Transpose", [v], exact=True, **({"perm": perm} if perm and m.chance(0.8) else {}))


def expand(m):
    v = m.pick(ANY)
    dims = [d if d != 1 else m.rng.choice((1, 2, 3, 5)) for d in v.shape]
    if m.chance(0.3) and v.rank < 6:
        dims = [m.rng.choice((1, 2, 3))] + dims
    written = [1 if m.chance(0.2) and d == w else d
            for d, w in zip(dims, [0] * (len(dims) - v.rank) + list(v.shape))]
    m.node("Expand", [v, target(m, written, m.pick(ANY))], exact=True, shapes=[dims])


def tile(m):
    v = m.pick(ANY, ranks=range(1, 6))
    repeats = [m.rng.choice((1, 1, 2, 3)) for _ in v.shape]
    m.node("Tile", [v, m.ints(repeats)], exact=True)


def cut(m):
    v = m.pick(ANY, ranks=range(1, 7))
    axes = sorted(m.rng.sample(range(v.rank), m.rng.randint(1, min(v.rank, 3))))
    starts, ends, steps, dims = [], [], [], list(v.shape)
    for a in axes:
        d = v.shape[a]
        step = m.rng.choice((1, 1, 1, 2, 3, -1, -2))
        lo, hi = sorted((m.rng.randint(0, d), m.rng.randint(0, d + 2)))
        start, end = (lo, hi) if step > 0 else (hi, lo - 1 if lo else -d - 5)
        if step > 0 and d and m.chance(0.3):
            start -= d if start < d else 0
        if step > 0 and m.chance(0.2):
            end = 2 ** 31 - 1
        starts.append(start)
        ends.append(end)
        steps.append(step)
        dims[a] = len(range(d)[slice(start, end if end >= -d else None, step)])
    if math.prod(dims) == 0 and not m.chance(0.2):
        raise_unfit()
    ones = all(s == 1 for s in steps) and m.chance(0.5)
    plain = axes == list(range(len(axes))) and m.chance(0.5) and ones
    axes = [a - v.rank if m.chance(0.4) else a for a in axes]
    ins = [v, m.ints(starts), m.ints(ends)]
    ins += [None if plain else m.ints(axes)] + [None if ones else m.ints(steps)]
    m.node("Slice", ins, exact=True, shapes=[dims])


def split(m):
    v = m.pick(ANY, ranks=range(1, 7))
    axis = axis_of(m, v)
    d = v.shape[axis]
    sizes = []
    while sum(sizes) < d and len(sizes) < 3:
        sizes.append(m.rng.randint(1, d - sum(sizes)))
    sizes += [d - sum(sizes)] if sum(sizes) < d else []
    if not sizes:
        raise_unfit()
    if m.form >= 13:
        m.node("Split", [v, m.ints(sizes)], outs=len(sizes), axis=axis, exact=True)
    else:
        m.node("Split", [v], outs=len(sizes), axis=axis, split=sizes, exact=True)


def split_evenly(m):
    v = m.pick(ANY, ranks=range(1, 7))
    axis = axis_of(m, v)
    able = [n for n in (2, 3, 4, 5) if v.shape[axis] and v.shape[axis] % n == 0]
    if not able:
        raise_unfit()
    m.node("Split", [v], outs=m.rng.choice(able), axis=axis, exact=True)


def concat(m):
    a = m.pick(ANY, ranks=range(1, 7))
    axis = axis_of(m, a)
    def fits(o):
        return all(x == y or i == axis % a.rank for i, (x, y) in enumerate(zip(a.shape, o.shape)))
    ins = [a] + [m.pick((a.dtype,), (a.rank,), fits=fits) for _ in range(m.rng.randint(0, 3))]
    if a.dtype == FLOAT and m.chance(0.3):
        shape = list(a.shape)
        shape[axis] = m.rng.choice((1, 2, 3))
        ins.append(m.shared(shape))
    m.rng.shuffle(ins)
    m.node("Concat", ins, axis=axis, exact=True)


def index_of(m, n, shape):
    """Indices below n: constants, or at times an input of 0 and 1."""
    if n >= 2 and m.chance(0.3):
        return m.pick((INT64,), fits=lambda v: v in m.inputs and v.rank < 4)
    return m.indices(n, shape)


def gather(m):
    v = m.pick(ANY + (FLOAT,), ranks=range(1, 6))
    axis = axis_of(m, v)
    shape = m.rng.choice(((), (1,), (3,), (m.dim(),), (2, m.dim())))
    attrs = {"axis": axis} if axis else {}
    m.node("Gather", [v, index_of(m, v.shape[axis], shape)], exact=True, **attrs)


def table(m):
    w = m.shared((m.dim() + 2, m.dim()))
    ids = m.pick((INT64,), ranks=range(4), fits=lambda v: v in m.inputs)
    m.node("Gather", [w, ids], exact=True)


def gather_elements(m):
    v = m.pick((FLOAT, INT64), ranks=range(1, 5))
    axis = axis_of(m, v)
    shape = [m.rng.randint(1, d) if d else raise_unfit() for d in v.shape]
    shape[axis] = m.rng.choice((1, 2, 5))
    m.node("GatherElements", [v, m.indices(v.shape[axis], shape)], axis=axis, exact=True)


def gather_nd(m):
    v = m.pick((FLOAT, INT64), ranks=range(1, 5))
    k = m.rng.randint(1, v.rank)
    n, lead = min(v.shape[:k]), (m.rng.choice((1, 3, 4)),)
    attrs = {}
    if m.form >= 12 and v.rank > 1 and m.chance(0.4):
        attrs["batch_dims"] = 1
        k = min(k, v.rank - 1)
        n, lead = min(v.shape[1:1 + k]), (v.shape[0], 2)
    m.node("GatherND", [v, m.indices(n, (*lead, k))], exact=True, **attrs)


def scatter(m):
    v = m.pick((FLOAT, INT64), ranks=range(1, 5))
    if 0 in v.shape:
        raise_unfit()
    if m.chance(0.5):
        k = m.rng.randint(1, v.rank)
        places = [list(np.unravel_index(i, v.shape[:k])) for i in
                  m.rng.sample(range(math.prod(v.shape[:k])), m.rng.randint(
                      1, min(4, math.prod(v.shape[:k]))))]
        shape = (len(places), *v.shape[k:])
        add = m.form >= 16 and m.chance(0.3)
        m.node("ScatterND", [v, m.ints(places), pair(m, v, shape)], exact=True,
               size=v.size + 1, **({"reduction": "add"} if add else {}))
    else:
        axis = axis_of(m, v)
        shape = list(v.shape)
        shape[axis] = m.rng.randint(1, shape[axis])
        order = np.argsort(m.numbers.rand(*v.shape), axis)
        index = order.take(range(shape[axis]), axis)
        if m.chance(0.4):
            index = np.where(m.numbers.rand(*index.shape) < 0.5, index, index - v.shape[axis])
        m.node("ScatterElements", [v, m.ints(index), pair(m, v, shape)], axis=axis, exact=True,
               size=v.size + 1)


def pair(m, v, shape):
    """A tensor of that shape and of the type of v."""
    if m.chance(0.3):
        return m.pick((v.dtype,), fits=lambda o: o.shape == tuple(shape))
    return m.shared(shape) if v.dtype == FLOAT else m.weight(
        m.numbers.randint(0, 9, shape).astype(np.int64))


def one_hot(m):
    v = m.pick((INT64, INT32), ranks=range(4), exact=True, fits=lambda v: v in m.inputs)
    n, axis = m.rng.choice((2, 3, 7)), axis_of(m, v, 1)
    dims = list(v.shape)
    dims.insert(axis % (v.rank + 1), n)
    m.node("OneHot", [v, m.weight(np.array(n, np.int64)), m.weight(np.array([0, 1], np.float32))],
           exact=True, axis=axis, shapes=[dims])


def pad(m):
    v = m.pick((FLOAT, INT64, DOUBLE), ranks=range(1, 6))
    mode = m.rng.choice(("constant", "constant", "edge", "reflect"))
    top = [2 if mode == "constant" else min(2, d - 1) if mode == "reflect" else 2 * (d > 0)
           for d in v.shape] * 2
    pads = [m.rng.randint(0, max(t, 0)) if m.chance(0.6) else 0 for t in top]
    if mode == "constant" and m.chance(0.2):
        pads[0] = -min(1, v.shape[0])
    value = m.weight(np.array(2, numpy_type(v.dtype))) if mode == "constant" and m.chance(0.5) \
        else None
    m.node("Pad", [v, m.ints(pads), value], exact=True, size=v.size + 2, mode=mode)


def resize(m):
    v = m.pick((FLOAT,), ranks=(3, 4, 5))
    if 0 in v.shape:
        raise_unfit()
    mode = m.rng.choice(("nearest", "nearest", "linear", "cubic")) if v.rank == 4 else "nearest"
    how = m.rng.choice(("asymmetric", "half_pixel", "align_corners")) if mode != "nearest" \
        else "asymmetric"
    attrs = {"mode": mode, "coordinate_transformation_mode": how}
    if mode == "nearest":
        attrs["nearest_mode"] = "floor"
    none = None if m.form >= 13 else m.weight(np.zeros(0, np.float32))
    if m.chance(0.5):
        sizes = [*v.shape[:2], *(d * m.rng.choice((1, 2, 3)) for d in v.shape[2:])]
        m.node("Resize", [v, none, None if m.form >= 13 else m.weight(np.zeros(0, np.float32)),
                          m.ints(sizes)], exact=mode == "nearest", shapes=[sizes], size=v.size * 2,
               **attrs)
    else:
        scales = [1, 1, *(m.rng.choice((1, 2, 3)) for _ in v.shape[2:])]
        m.node("Resize", [v, none, m.weight(np.array(scales, np.float32))], exact=mode == "nearest",
               size=v.size * 2, **attrs)


def depth(m):
    v = m.pick((FLOAT,), ranks=(4,))
    block = m.rng.choice((2, 3))
    if v.shape[1] % block ** 2 == 0 and 0 not in v.shape:
        m.node("DepthToSpace", [v], blocksize=block, exact=True,
               mode=m.rng.choice(("DCR", "CRD")))
    elif v.shape[2] % block == v.shape[3] % block == 0 and 0 not in v.shape:
        m.node("SpaceToDepth", [v], blocksize=block, exact=True)
    else:
        raise_unfit()


def filled(m):
    v = m.pick(ANY)
    dims = [m.rng.choice((d, m.dim())) for d in v.shape]
    value = helper.make_tensor("v", *m.rng.choice(((FLOAT, [1], [0.5]), (INT64, [1], [1]))))
    m.node("ConstantOfShape", [target(m, dims, v)], exact=True, shapes=[dims],
           **({"value": value} if m.chance(0.7) else {}))


def sizes(m):
    v = m.pick(ANY)
    what = m.node(m.rng.choice(("Shape", "Size")), [v], exact=True, size=max([1, *v.shape]))[0]
    if m.chance(0.5):
        m.node("Cast", [what], to=FLOAT, exact=True)


def counted(m):
    v = m.pick(ANY, ranks=range(1, 6))
    n = v.shape[-1]
    limit = m.weight(np.array(n, np.int64))
    if m.chance(0.5):
        shape = m.node("Shape", [v], exact=True)[0]
        limit = m.node("Gather", [shape, m.weight(np.array(-1, np.int64))], axis=0, exact=True)[0]
    m.node("Range", [m.weight(np.array(0, np.int64)), limit, m.weight(np.array(1, np.int64))],
           exact=True, shapes=[[n]], size=n)


def triangle(m):
    v = m.pick((FLOAT, INT64), ranks=range(2, 6))
    if m.chance(0.3) and v.rank == 2:
        m.node("EyeLike", [v], exact=True, k=m.rng.randint(-1, 1))
        return
    if m.form < 14:
        raise_unfit()
    k = m.weight(np.array(m.rng.randint(-2, 2), np.int64)) if m.chance(0.5) else None
    m.node("Trilu", [v, k], exact=True, upper=m.rng.randint(0, 1))


def reverse(m):
    v = m.pick((FLOAT,), ranks=range(2, 5))
    batch = m.rng.randint(0, 1)
    n = v.shape[1 - batch]
    if n == 0:
        raise_unfit()
    lens = m.weight(m.numbers.randint(1, n + 1, v.shape[batch]).astype(np.int64))
    m.node("ReverseSequence", [v, lens], batch_axis=batch, time_axis=1 - batch, exact=True)


# -- 8 bits --

def quantized(m):
    v = m.pick((FLOAT,), exact=True)
    attrs, shape = {}, ()
    if m.form >= 13 and v.rank > 0 and m.chance(0.6):
        axis = axis_of(m, v)
        attrs, shape = {"axis": axis}, (v.shape[axis],)
    scale = m.weight(m.numbers.uniform(0.01, 0.1, shape).astype(np.float32))
    kind = m.rng.choice((np.uint8, np.int8))
    zero = m.weight(m.numbers.randint(0, 9, shape).astype(kind)) if m.chance(0.8) else None
    q = m.node("QuantizeLinear", [v, scale, zero], exact=True, size=255, **attrs)[0]
    if m.chance(0.8):
        m.node("DequantizeLinear", [q, scale, zero], exact=True, size=v.size + 26, **attrs)


def dequantized_weight(m):
    k, n = m.dim(), m.dim()
    w = m.weight(m.numbers.randint(-9, 9, (k, n)).astype(np.int8))
    axis = m.rng.choice((None, 0, 1, -1))
    if axis is not None and m.form < 13:
        raise_unfit()
    scale = m.weight(m.numbers.uniform(0.01, 0.1, () if axis is None else w.shape[axis])
                     .astype(np.float32))
    w = m.node("DequantizeLinear", [w, scale], **({} if axis is None else {"axis": axis}), size=1,
               exact=True)[0]
    v = m.pick((FLOAT,), ranks=range(1, 5), fits=lambda v: v.shape[-1] == k)
    m.node("MatMul", [v, w], size=sums_of(m, v, k))


def quantized_product(m):
    v = m.pick((TensorProto.UINT8, TensorProto.INT8), ranks=range(1, 5), exact=True)
    kind = numpy_type(v.dtype)
    if m.chance(0.5) and v.rank > 2:
        c, kernel = v.shape[1], [m.rng.randint(1, min(2, d)) if d else raise_unfit()
                                 for d in v.shape[2:]]
        op, shape = "QLinearConv", (m.dim(), c, *kernel)
    else:
        op, shape = "QLinearMatMul", (v.shape[-1], m.dim())
    if kind is np.dtype(np.int8) and op == "QLinearConv":
        raise_unfit()
    w = m.weight(m.numbers.randint(-9 if kind == np.int8 else 0, 9, shape).astype(kind))
    def scale():
        return [m.weight(np.array(m.rng.uniform(0.01, 0.2), np.float32)),
                m.weight(np.array(m.rng.randint(0, 3), kind))]
    ins = [v, *scale(), w, *scale(), *scale()]
    if op == "QLinearConv" and m.chance(0.5):
        ins.append(m.weight(m.numbers.randint(-50, 50, shape[:1]).astype(np.int32)))
    m.node(op, ins, exact=True, size=255)


def dynamic(m):
    m.node("DynamicQuantizeLinear", [m.pick((FLOAT,), exact=True)], outs=3, exact=True, size=255)


def loss(m):
    if m.form < 12:
        raise_unfit()
    v = m.tame(m.pick((FLOAT,), ranks=range(2, 5)))
    if 0 in v.shape:
        raise_unfit()
    labels = m.weight(m.numbers.randint(0, v.shape[1], (v.shape[0], *v.shape[2:])).astype(np.int64))
    weights = m.weight(m.numbers.uniform(0.5, 1, v.shape[1]).astype(np.float32)) \
        if m.chance(0.3) else None
    how = m.rng.choice(("none", "sum", "mean"))
    op = m.rng.choice(("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"))
    m.node(op, [v, labels, weights], reduction=how, size=sums_of(m, v, math.prod(v.shape)),
           outs=2 if op.startswith("Soft") and m.chance(0.4) else 1)


def sampled(m):
    v = m.pick((FLOAT,), ranks=(4,))
    if m.form < 16 or 0 in v.shape:
        raise_unfit()
    grid = m.floats((v.shape[0], m.rng.choice((2, 3, 5)), m.rng.choice((1, 4)), 2))
    m.node("GridSample", [v, grid], padding_mode=m.rng.choice(("zeros", "border")), size=v.size)


def regions(m):
    v = m.pick((FLOAT,), ranks=(4,))
    if 0 in v.shape:
        raise_unfit()
    n = m.rng.choice((1, 3, 5))
    corners = np.sort(m.numbers.uniform(0, 4, (n, 2, 2)), 1).reshape(n, 4).astype(np.float32)
    m.node("RoiAlign", [v, m.weight(corners), m.weight(m.numbers.randint(0, v.shape[0], n)
                                                       .astype(np.int64))],
           output_height=2, output_width=3, sampling_ratio=2, size=v.size)


def shifted(m):
    v = m.pick((TensorProto.UINT8,))
    by = m.weight(m.numbers.randint(0, 7, v.shape[-1:]).astype(np.uint8))
    m.node("BitShift", ordered(m, v, by), direction=m.rng.choice(("LEFT", "RIGHT")), exact=True,
           size=255)


def determinant(m):
    v = m.pick((FLOAT,), ranks=range(2, 5), fits=lambda v: v.shape[-1] == v.shape[-2] > 0)
    m.node("Det", [m.tame(v)], size=24 * 4 ** min(v.shape[-1], 6))


# -- com.microsoft, whose shapes are not inferred here --

def fused(m, op, ins, shape, size, outs=1, **attrs):
    node = helper.make_node(op, [v.name if v else "" for v in ins],
                            [m.name("t") for _ in range(outs)], domain="com.microsoft", **attrs)
    m.add(node, shape, FLOAT, exact=False, size=size)


def fused_matmul(m):
    a = m.pick((FLOAT,), ranks=range(2, 5))
    ta, tb, n = m.rng.randint(0, 1), m.rng.randint(0, 1), m.dim()
    rows, k = a.shape[-2:][::-1] if ta else a.shape[-2:]
    lead = a.shape[:-2] if m.chance(0.5) else ()
    b = m.shared((*lead, n, k) if tb else (*lead, k, n))
    if 0 in (*a.shape, *b.shape):
        raise_unfit()
    fused(m, "FusedMatMul", [a, b], (*a.shape[:-2], rows, n), sums_of(m, a, k), transA=ta, transB=tb,
          alpha=0.5)


def fused_activation(m):
    v = m.tame(m.pick((FLOAT,), ranks=range(1, 5), fits=lambda v: 0 not in v.shape))
    op = m.rng.choice(("Gelu", "BiasGelu", "QuickGelu", "FastGelu"))
    bias = [m.shared(v.shape[-1:])] if op == "BiasGelu" or op == "FastGelu" and m.chance(0.5) else []
    fused(m, op, [v, *bias], v.shape, v.size + 1)


def fused_norm(m):
    v = m.tame(m.pick((FLOAT,), ranks=(3,), fits=lambda v: 0 not in v.shape))
    n = v.shape[-1:]
    other = m.pick((FLOAT,), fits=lambda o: o.shape == v.shape)
    simple = m.chance(0.4)
    ins = [v, other, m.shared(n)] + ([] if simple else [m.shared(n)])
    ins += [m.shared(n)] if m.chance(0.5) else []
    if simple:
        ins = ins[:3] + ins[3:4]
    fused(m, "SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization", ins, v.shape,
          9, epsilon=0.1)


def fused_attention(m):
    v = m.tame(m.pick((FLOAT,), ranks=(3,), fits=lambda v: 0 not in v.shape))
    heads = [h for h in (1, 2, 3, 4) if v.shape[-1] % h == 0]
    keys = m.shared((v.shape[0], m.dim() or 1, v.shape[-1]))
    if 0 in keys.shape:
        raise_unfit()
    fused(m, "MultiHeadAttention", [v, keys, keys], v.shape, 1, num_heads=m.rng.choice(heads))


# -- recurrences and bodies --

def recurrent(m):
    v = m.tame(m.pick((FLOAT,), ranks=(3,)))
    op, gates = m.rng.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    direction = m.rng.choice(("forward", "reverse", "bidirectional"))
    n, h = 1 + (direction == "bidirectional"), m.rng.choice((2, 3, 5))
    if 0 in v.shape:
        raise_unfit()
    ins = [v, m.shared((n, gates * h, v.shape[2])), m.shared((n, gates * h, h)),
           m.shared((n, 2 * gates * h)) if m.chance(0.5) else None,
           m.weight(m.numbers.randint(1, v.shape[0] + 1, v.shape[1]).astype(np.int32))
           if m.chance(0.3) else None,
           m.shared((n, v.shape[1], h)) if m.chance(0.3) else None]
    m.node(op, ins, outs=3 if op == "LSTM" else 2, hidden_size=h, direction=direction, size=1)


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def condition(m):
    c = m.pick(BOOL, ranks=(0,)) if m.chance(0.5) else m.weight(np.array(m.chance(0.5)))
    a = m.pick((FLOAT,))
    k = m.name("k")
    then = helper.make_graph([helper.make_node("Neg", [a.name], [k + "n"]),
                              helper.make_node("Abs", [k + "n"], [k + "t"])], k + "then", [],
                             [value(k + "t", FLOAT, a.shape)])
    other = helper.make_graph([helper.make_node("Relu", [a.name], [k + "e"])], k + "else", [],
                              [value(k + "e", FLOAT, a.shape)])
    node = helper.make_node("If", [c.name], [m.name("t")], name=k, then_branch=then,
                            else_branch=other)
    m.add(node, a.shape, FLOAT, exact=a.exact, size=a.size)


def loop(m):
    a = m.pick((FLOAT,), exact=False)
    k, n = m.name("k"), m.rng.randint(0, 3)
    if a.size > 1000:
        raise_unfit()
    body = helper.make_graph(
        [helper.make_node("Add", [k + "v", a.name], [k + "o"]),
         helper.make_node("Identity", [k + "c"], [k + "d"]),
         helper.make_node("Neg", [k + "o"], [k + "s"])], k + "body",
        [value(k + "i", INT64, ()), value(k + "c", TensorProto.BOOL, ()), value(k + "v", FLOAT, a.shape)],
        [value(k + "d", TensorProto.BOOL, ()), value(k + "o", FLOAT, a.shape),
         value(k + "s", FLOAT, a.shape)])
    times = m.weight(np.array(n, np.int64))
    node = helper.make_node("Loop", [times.name, "", a.name], [m.name("t"), m.name("t")], name=k,
                            body=body)
    m.add(node, a.shape, FLOAT, exact=a.exact, size=a.size * 4, more=[(n, *a.shape)])


def scan(m):
    a = m.pick((FLOAT,), ranks=range(1, 5), fits=lambda v: v.shape[0] > 0)
    k, inner = m.name("k"), a.shape[1:]
    if a.size > 1000:
        raise_unfit()
    start = m.shared(inner)
    body = helper.make_graph(
        [helper.make_node("Add", [k + "s", k + "x"], [k + "t"]),
         helper.make_node("Mul", [k + "t", start.name], [k + "o"])], k + "body",
        [value(k + "s", FLOAT, inner), value(k + "x", FLOAT, inner)],
        [value(k + "t", FLOAT, inner), value(k + "o", FLOAT, inner)])
    node = helper.make_node("Scan", [start.name, a.name], [m.name("t"), m.name("t")], name=k,
                            body=body, num_scan_inputs=1)
    m.add(node, inner, FLOAT, exact=False, size=a.size * a.shape[0] + 1, more=[a.shape])


def function(m):
    if m.form < 15:
        raise_unfit()
    if not m.functions:
        m.functions.append(helper.make_function(
            "local", "Blend", ["a", "b"], ["y"],
            [helper.make_node("Sub", ["a", "b"], ["d"]), helper.make_node("Tanh", ["d"], ["t"]),
             helper.make_node("Add", ["t", "b"], ["y"])], [helper.make_opsetid("", m.form)]))
    a = m.tame(m.pick((FLOAT,)))
    b = beside(m, a)
    shape = np.broadcast_shapes(a.shape, b.shape)
    m.add(helper.make_node("Blend", [a.name, b.name], [m.name("t")], domain="local"), shape, FLOAT,
          exact=False, size=b.size + 1)


TEMPLATES = [
    (unary, roots, binary, divide, power, integers, variadic, compare, logic, where, cast, clip,
     prelu, passing, matmul, gemm, einsum, conv, pool, whole_numbers, reduce, along, arg, top_k,
     running_sum, norm, reshape, flatten, squeeze, unsqueeze, transpose, expand, tile, cut, split,
     split_evenly, concat, gather, table, gather_elements, gather_nd, scatter, one_hot, pad, resize,
     depth, filled, sizes, counted, triangle, reverse, quantized, dequantized_weight, recurrent,
     condition, loop, scan, function, quantized_product, dynamic, loss, sampled, regions, shifted,
     determinant, fused_matmul, fused_activation, fused_norm, fused_attention),
    (6, 2, 8, 2, 1, 2, 3, 2, 2, 3, 4, 2,
     1, 3, 8, 4, 4, 5, 4, 1, 7, 4, 2, 2,
     2, 4, 8, 2, 3, 3, 5, 4, 2, 6, 3,
     2, 5, 4, 3, 2, 2, 3, 2, 3, 2,
     1, 2, 2, 1, 2, 1, 3, 2, 2,
     1, 1, 1, 2, 1, 1, 2, 1, 1, 1,
     1, 2, 1, 1, 1)]
