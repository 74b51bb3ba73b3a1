"""ort_lists.py - the cases of ort_cases.py, one a line:

    case("Concat", 18, [F(2, 3), F(1, 3)], axis=0)

is an operator, the version of its operator set (com.microsoft: of the standard one), its inputs and
attributes. F, I and so on are inputs of a type, C is a constant with its numbers, None an input
left out. What follows the inputs is the number of results, or a letter for each and '-' for one
that is left out. A case's text is made of these and is its name in the record.

Left out is what ONNX Runtime does otherwise than the specification says: Squeeze with an empty list
of axes, Resize of a region by scales, or with an aspect ratio to keep and negative axes, SAME
paddings of dilated pools and of transposed convolutions whose stride exceeds the kernel, and
windows larger than their padded input.
"""

import dataclasses

from onnx import TensorProto, helper


@dataclasses.dataclass
class Value:
    dtype: str
    dims: list
    is_const: bool = False
    numbers: list = None  # of a constant; None: ones

    def __str__(self):
        text = f"{self.dtype}[{','.join(map(str, self.dims))}]"
        if self.numbers is not None:
            return text + "{" + ",".join(map(str, self.numbers)) + "}"
        return ("const " if self.is_const else "") + text


@dataclasses.dataclass
class Case:
    text: str
    opset: int
    inputs: list
    nodes: list
    may_be_open: bool
    claims: dict  # result -> its type, where the runtime knows it but its JavaScript does not
    stated: dict  # result -> its type, which only the file states


CASES = {}
RAW = {16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2",
       20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 24: "float8e8m0", 25: "uint2", 26: "int2"}


def T(dtype, *dims):
    return Value(dtype, list(dims))


def F(*dims):
    return T("float", *dims)


def H(*dims):
    return T("float16", *dims)


def I(*dims):
    return T("int64", *dims)


def W(dtype, *dims):
    """A constant of ones."""
    return Value(dtype, list(dims), True)


def C(numbers, dtype="int64"):
    """A constant; a nested list has rank 2, a plain number is a scalar."""
    if not isinstance(numbers, list):
        return Value(dtype, [], True, [numbers])
    if numbers and isinstance(numbers[0], list):
        return Value(dtype, [len(numbers), len(numbers[0])], True, sum(numbers, []))
    return Value(dtype, [len(numbers)], True, numbers)


def record(text, opset, inputs, nodes, may_be_open=False, claims=None, stated=None):
    assert text not in CASES, text
    CASES[text] = Case(text, opset, inputs, nodes, may_be_open, claims or {}, stated or {})


def node_of(op, inputs, outputs, attributes):
    prefix, _, name = op.rpartition(".")
    domain = {"ms": "com.microsoft", "ml": "ai.onnx.ml", "": ""}[prefix]
    attributes = {k: v for k, v in attributes.items() if v is not None}
    return helper.make_node(name, inputs, outputs, domain=domain, **attributes)


def show(attributes):
    words = {k: f"tensor{list(v.dims)}" if isinstance(v, TensorProto) else str(v)
             for k, v in attributes.items() if v is not None}
    return "".join(f" {k}={word}" for k, word in words.items()).replace(", ", ",")


def case(op, version, inputs, n_out=1, /, may_be_open=False, claim=None, stated=None, **attributes):
    """claim or stated is the type of the last result, see Case."""
    letters = "abcdefgh"[:n_out] if isinstance(n_out, int) else n_out
    given = ", ".join("-" if v is None else str(v) for v in inputs)
    names = ["" if v is None else f"x{k}" for k, v in enumerate(inputs)]
    outputs = ["" if c == "-" else f"y{k}" for k, c in enumerate(letters)]
    text = f"{op}@{version}({given})" + show(attributes) + ("" if n_out == 1 else f" -> {letters}")
    record(text, version, inputs, [node_of(op, names, outputs, attributes)], may_be_open,
           claim and {outputs[-1]: claim}, stated and {outputs[-1]: stated})


def open_case(*arguments, **attributes):
    """A case with dimensions that only the data decide."""
    case(*arguments, may_be_open=True, **attributes)


def chain(text, opset, inputs, *steps, may_be_open=False):
    """Several operators; each step is an operator, its inputs, outputs and, or not, attributes."""
    nodes = [node_of(op, names.split(), outputs.split(), dict(*attributes))
             for op, names, outputs, *attributes in steps]
    given = ", ".join(map(str, inputs))
    record(f"{text}@{opset}({given})", opset, inputs, nodes, may_be_open)


# -- elementwise, comparison, casts --

def elementwise():
    for op in ("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Sin", "Sinh",
               "Tan", "Selu", "Softplus", "Softsign", "HardSigmoid", "Elu", "HardSwish",
               "ThresholdedRelu", "Round", "Celu"):
        case(op, 22, [F(2, 3)])
    for op in ("Mish", "Gelu", "Swish", "Relu", "Exp", "Erf"):
        case(op, 24, [F(2, 0, 3)])
        case(op, 24, [F()])
    case("Gelu", 20, [H(2, 3)], approximate="tanh")
    case("Swish", 24, [F(2, 3)], alpha=1.5)
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        case(op, 18, [T("uint8", 2, 1, 3), T("uint8", 4, 1)])
        case(op, 18, [I(2, 3), I()])
    case("BitwiseNot", 18, [T("int16", 2, 3)])
    case("BitShift", 11, [T("uint8", 2, 3), T("uint8", 3)], direction="LEFT")
    case("Equal", 19, [T("string", 2, 1), T("string", 3)])
    for op in ("IsInf", "IsNaN"):
        case(op, 20, [T("double", 2, 3)])
    case("IsInf", 20, [F()], detect_negative=0)
    case("PRelu", 16, [F(2, 3, 4), F(3, 1)])
    case("Clip", 13, [F(2, 3), None, F()])
    case("Max", 13, [F(2, 1), F(3), F()])
    case("Where", 16, [T("bool", 3, 1), T("string", 2), T("string")])
    case("Mod", 13, [I(2, 3), I(3)], fmod=1)
    case("Pow", 15, [T("float", 2, 1), I(3)])
    case("CumProd", 26, [F(2, 3), C(1)], exclusive=1)
    case("CumSum", 14, [F(2, 3), C(-1, "int32")], reverse=1)
    case("BitCast", 26, [F(2, 3)], to=6)
    for to in (1, 2, 7, 8, 9, 10, 11):
        case("Cast", 21, [F(2, 3)], to=to)
    for to, name in RAW.items():
        case("Cast", 25 if to > 24 else 24, [F(2, 3)], claim=name, to=to)
    case("Cast", 19, [F()], claim="float8e4m3fn", to=17, saturate=0)
    case("Cast", 21, [W("int4", 3, 3)], to=1)
    case("Cast", 21, [W("uint4", 5)], to=2)
    case("Cast", 24, [F(2, 3)], claim="float8e8m0", to=24, round_mode="up")
    case("CastLike", 19, [F(2, 3), T("int8", 1)])
    case("CastLike", 21, [F(2, 3), W("bfloat16", 1)], claim="bfloat16")
    case("CastLike", 21, [F(2, 3), W("int4", 1)], claim="int4")


# -- reductions --

def reductions():
    for op in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"):
        op = "Reduce" + op
        case(op, 18, [F(2, 3, 4)])
        case(op, 18, [F(2, 3, 4), C([-1, 0])], keepdims=0)
        case(op, 18, [F(2, 3, 4), C([1])], keepdims=1)
        case(op, 18, [F(2, 3, 4)], noop_with_empty_axes=1)
        case(op, 18, [F(2, 3, 4), C([])], noop_with_empty_axes=1, keepdims=0)
    for op in ("ReduceSum", "ReduceMax", "ReduceL2"):
        case(op, 18, [F(2, 3, 4), C([])])
        case(op, 18, [F(2, 3, 4), C([])], keepdims=0)
        case(op, 18, [F(2, 3, 4), None], keepdims=0)
        case(op, 18, [F()])
        case(op, 18, [F()], keepdims=0)
        case(op, 18, [F(4), C([0])], keepdims=0)
    case("ReduceSum", 18, [F(2, 0, 4), C([1])])
    case("ReduceSum", 18, [F(2, 0, 4), C([0])], keepdims=0)
    case("ReduceMax", 20, [T("bool", 2, 3), C([1])])
    case("ReduceMin", 20, [T("bool", 2, 3)], keepdims=0)
    case("ReduceMean", 18, [T("int32", 2, 3), C([1])])
    case("ReduceMean", 17, [F(2, 3, 4)], axes=[0, -1], keepdims=0)
    case("ReduceMax", 13, [T("int8", 2, 3)], axes=[1])
    for op in ("ArgMax", "ArgMin"):
        case(op, 13, [F(2, 3, 4)])
        case(op, 13, [F(2, 3, 4)], axis=-1, keepdims=0)
        case(op, 13, [F(4)], keepdims=0, select_last_index=1)
    for op in ("Hardmax", "Softmax", "LogSoftmax"):
        case(op, 13, [F(2, 3, 4)], axis=1)
    case("LpNormalization", 22, [F(2, 3)], p=1, axis=0)


# -- reshaping and moving --

def shapes():
    case("Shape", 19, [F(2, 3, 4)])
    case("Shape", 21, [F()])
    case("Shape", 21, [F(2, 3, 4)], start=1)
    case("Shape", 21, [F(2, 3, 4)], start=-2, end=-1)
    case("Shape", 21, [F(2, 3, 4)], start=-9, end=9)
    case("Shape", 21, [F(2, 3, 4)], start=2, end=1)
    case("Size", 21, [F(2, 0)])
    for opset in (19, 21, 23, 24, 25):
        case("Reshape", opset, [F(2, 3, 4), C([0, -1])])
    case("Reshape", 21, [F(2, 0, 4), C([0, 4, 0])], allowzero=1)
    case("Reshape", 21, [F(0, 3), C([3, 0])], allowzero=1)
    case("Reshape", 21, [F(2, 0, 4), C([4, 0, 2])])
    case("Reshape", 21, [F(0, 3), C([-1, 3])])
    case("Reshape", 21, [F(1), C([])])
    case("Reshape", 21, [F(), C([1, 1])])
    case("Reshape", 21, [F(), C([-1])])
    case("Reshape", 21, [T("string", 2, 3), C([-1])])
    case("Squeeze", 21, [F(1, 3, 1)])
    case("Squeeze", 21, [F(1, 3, 1), C([-1])])
    case("Squeeze", 24, [F(1, 3, 1), C([0, 2])])
    case("Squeeze", 23, [F(1, 1)])
    case("Squeeze", 11, [F(1, 3, 1)], axes=[0])
    case("Unsqueeze", 21, [F(3), C([0, -1])])
    case("Unsqueeze", 24, [F(), C([0])])
    case("Unsqueeze", 23, [F(2, 3), C([3, 0])])
    case("Unsqueeze", 23, [F(2, 3), C([-2])])
    case("Unsqueeze", 23, [F(2, 3), C([])])
    case("Flatten", 21, [F(2, 3, 4)], axis=2)
    case("Flatten", 21, [F(2, 3, 4)], axis=-1)
    case("Flatten", 23, [F(2, 3, 4)], axis=0)
    case("Flatten", 24, [F(2, 3, 4)], axis=3)
    case("Flatten", 21, [F()], axis=0)
    case("Transpose", 21, [F(2, 3, 4)])
    case("Transpose", 23, [F(2, 3, 4)], perm=[1, 0, 2])
    case("Transpose", 21, [F()])
    case("Transpose", 21, [W("uint4", 2, 3)], claim="uint4")
    case("Identity", 21, [T("string", 2, 3)])
    case("Identity", 25, [W("bfloat16", 2)], claim="bfloat16")
    case("Expand", 13, [F(3, 1), C([2, 1, 6])])
    case("Expand", 13, [F(3, 1), C([1])])
    case("Expand", 13, [F(3, 1), C([])])
    case("Expand", 13, [F(), C([2, 0])])
    case("Tile", 13, [F(2, 3), C([2, 0])])
    case("Concat", 13, [F(2, 0), F(2, 3)], axis=-1)
    case("Concat", 13, [F(0), F(3)], axis=0)
    case("Transpose", 21, [F(2, 0, 4)], perm=[2, 0, 1])
    case("Flatten", 21, [F(2, 0, 4)], axis=1)
    case("Flatten", 21, [F(0, 3)], axis=2)
    case("ConstantOfShape", 21, [C([2, 3])])
    case("ConstantOfShape", 24, [C([])])
    case("ConstantOfShape", 23, [C([0, 2])])
    case("Split", 18, [F(5, 2)], 2, num_outputs=2)
    case("Split", 18, [F(7, 2)], 3, num_outputs=3)
    case("Split", 18, [F(2, 6)], 3, num_outputs=3, axis=-1)
    case("Split", 18, [F(2, 6), C([1, 0, 5])], 3, axis=1)
    case("Split", 18, [F(6)], 1, num_outputs=1)
    case("Split", 18, [F(2, 3)], 2, num_outputs=2, axis=1)
    case("Split", 18, [F(10)], 4, num_outputs=4)
    case("Split", 13, [F(6, 2)], 3)
    case("Split", 13, [F(6, 2), C([2, 4])], 2)
    case("Split", 11, [F(6, 2)], 2, split=[5, 1])
    for opset in (18, 19, 21, 23, 24, 25):
        case("Pad", opset, [F(2, 3), C([1, 0, 2, 1])])
    for mode in ("reflect", "edge", "wrap"):
        case("Pad", 19, [F(3, 4), C([1, 0, 2, 1])], mode=mode)
    case("Pad", 19, [F(2, 3, 4), C([1, 2]), None, C([-1])])
    case("Pad", 19, [F(2, 3, 4), C([1, 2, 3, 4]), F(), C([2, 0])])
    case("Pad", 21, [F(4, 5), C([-1, 0, -1, 2])])
    case("Pad", 21, [F(2, 3), C([]), None, C([])])
    case("Pad", 21, [F(0, 3), C([1, 0, 0, 1]), F()])
    case("Pad", 21, [T("bool", 2), C([1, 1])])
    case("Pad", 11, [I(2, 3), C([1, 0, 2, 1]), C(0)])
    case("ms.Pad", 18, [F(2, 3), C([1, 0, 2, 1])])
    for dims, target, axes in (((4, 5, 3), [2, 8], [0, 1]), ((4, 5), [7], [-1]),
                               ((4, 5), [3, 9], None), ((4, 0), [2, 2], None),
                               ((4, 5, 3), [3], [1]), ((4, 5), [5, 4], [1, 0])):
        case("CenterCropPad", 18, [F(*dims), C(target)], axes=axes)
    case("Trilu", 14, [F(2, 3, 4), C(-1)], upper=0)
    case("DepthToSpace", 13, [F(1, 8, 2, 3)], blocksize=2, mode="CRD")
    case("SpaceToDepth", 13, [F(1, 2, 4, 6)], blocksize=2)
    case("EyeLike", 22, [F(2, 3)], k=1)
    case("EyeLike", 22, [T("int32", 2, 3)], dtype=11)
    case("Range", 11, [C(1), C(8), C(3)])
    case("Range", 11, [C(1.0, "float"), C(0.0, "float"), C(-0.3, "float")])
    case("Range", 11, [C(5), C(1), C(3)])
    case("Range", 27, [C(1), C(8), C(3)])
    case("Range", 27, [C(1.0, "float16"), C(8.0, "float16"), C(3.0, "float16")])
    case("ms.Range", 18, [C(1), C(8), C(3)])
    case("ms.Range", 18, [C(1), C(8)])
    case("ms.ExpandDims", 18, [F(2, 3), C(-1, "int32")])
    case("ms.ExpandDims", 18, [F(2, 3), C(0, "int32")])
    case("ms.ExpandDims", 18, [F(2, 3), C(-2, "int32")])
    case("ms.Trilu", 18, [F(2, 3, 4)])


def indices():
    for reduction in (None, "add", "mul", "max", "min"):
        case("ScatterElements", 18, [F(3, 4), C([[0, 1], [1, 0]]), F(2, 2)], axis=-1,
             reduction=reduction)
        case("ScatterND", 18, [F(4, 3), C([[0], [2]]), F(2, 3)], reduction=reduction)
    case("TensorScatter", 24, [F(2, 3, 4, 5), F(2, 3, 1, 5), C([1, 2])])
    case("TensorScatter", 24, [F(2, 3, 4, 5), F(2, 3, 2, 5)], mode="circular", axis=-2)
    case("TensorScatter", 24, [F(2, 4, 5), F(2, 2, 5), None], axis=1)
    case("TopK", 24, [F(2, 6), C([3])], 2)
    case("TopK", 11, [T("int32", 4, 6), C([0])], 2)
    case("TopK", 24, [F(2, 6), C([1])], 2, axis=0, largest=0, sorted=0)
    case("TopK", 11, [I(4), C([4])], 2, axis=-1)
    case("Gather", 13, [F(3, 4), C(1)], axis=1)
    case("Gather", 13, [F(3, 4), C([[0, -1]])])
    case("Gather", 13, [F(4), C(0)])
    case("GatherElements", 13, [F(3, 4), C([[0, 1], [1, 0]])], axis=1)
    case("GatherND", 13, [F(2, 3, 4), C([[0, 1], [1, 0]])])
    case("GatherND", 13, [F(2, 3, 4), C([[1], [0]])], batch_dims=1)
    case("ms.GatherND", 18, [F(2, 3, 4), C([[0, 1], [1, 0]])])
    case("OneHot", 11, [I(2, 3), C([5]), C([0, 1])])
    case("OneHot", 11, [I(2, 3), C(5), C([0.0, 1.0], "float")], axis=0)
    open_case("NonZero", 13, [F(2, 3)])
    open_case("Compress", 11, [F(3, 2), C([0, 1, 1], "bool")], axis=0)
    open_case("Unique", 11, [F(3, 2)], 4, axis=0)
    open_case("Unique", 11, [F(3, 2)], "a--d")
    open_case("ms.Unique", 18, [F(6)], 3)
    case("ReverseSequence", 10, [F(4, 3, 2), C([1, 2, 3])])
    open_case("NonMaxSuppression", 11, [F(1, 5, 4), F(1, 2, 5), C([3])])
    case("Slice", 13, [F(5, 4), C([-9]), C([9]), C([-1]), C([2])])
    case("Slice", 13, [F(5, 4), C([4]), C([-9]), C([0]), C([-2])])
    case("Slice", 13, [F(5, 4), C([2, 1]), C([2, 3])])


# -- images, windows --

def resize():
    nearest, linear = {"mode": "nearest"}, {"mode": "linear"}
    x = F(1, 2, 4, 5)
    for opset in (13, 18, 19):
        case("Resize", opset, [x, None, C([1.0, 1.0, 1.5, 0.5], "float")], **nearest)
        case("Resize", opset, [x, None, None, C([1, 2, 7, 3])], **linear)
    case("Resize", 11, [x, W("float", 0), C([1.0, 1.0, 2.0, 0.6], "float")])
    case("Resize", 10, [x, C([1.0, 1.0, 2.0, 0.6], "float")])
    for policy in ("stretch", "not_larger", "not_smaller"):
        case("Resize", 19, [x, None, None, C([7, 8])], axes=[2, 3], keep_aspect_ratio_policy=policy)
        case("Resize", 18, [x, None, None, C([9, 6])], axes=[3, 2], keep_aspect_ratio_policy=policy,
             **linear)
        case("Resize", 19, [x, None, None, C([1, 2, 11, 3])], keep_aspect_ratio_policy=policy)
    case("Resize", 19, [x, None, C([0.7], "float")], axes=[3])
    case("Resize", 19, [x, None, C([0.6, 0.7], "float")], axes=[3, 2], **linear)
    for mode in ("linear", "cubic"):
        case("Resize", 18, [x, None, C([1.0, 1.0, 0.6, 0.7], "float")], antialias=1, mode=mode)
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    roi = C([0.0, 0.0, 0.1, 0.2, 1.0, 1.0, 0.6, 0.9], "float")
    case("Resize", 19, [x, roi, None, C([1, 2, 3, 3])], **crop, **linear)
    case("Resize", 19, [x, C([0.1, 0.2, 0.6, 0.9], "float"), None, C([3, 4])], axes=[2, 3], **crop,
         **linear)
    case("Resize", 19, [F(4), None, C([2.5], "float")], **nearest)
    case("Resize", 19, [F(1, 2, 3, 4, 5), None, C([1.0, 1.0, 2.0, 2.0, 0.5], "float")], **linear)
    case("Resize", 19, [T("uint8", 1, 1, 4, 4), None, C([1.0, 1.0, 2.0, 2.0], "float")],
         coordinate_transformation_mode="half_pixel_symmetric", **linear)
    case("Upsample", 9, [x, C([1.0, 1.0, 2.0, 1.5], "float")])


def pools():
    for op in ("AveragePool", "MaxPool", "LpPool"):
        for opset in (18, 19, 22) if op != "AveragePool" else (19, 22):
            case(op, opset, [F(1, 2, 7, 8)], kernel_shape=[2, 3], dilations=[2, 2])
            case(op, opset, [F(1, 2, 7, 8)], kernel_shape=[2, 3], strides=[2, 3], ceil_mode=1)
            case(op, opset, [F(1, 2, 7)], kernel_shape=[3], pads=[1, 1], strides=[2])
        for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            case(op, 22, [F(1, 2, 7, 8)], kernel_shape=[3, 2], strides=[2, 3], auto_pad=auto_pad)
        case(op, 22, [F(1, 2, 5, 6, 7)], kernel_shape=[2, 2, 2], strides=[2, 1, 3])
        # a last window that would start in the padding is dropped
        case(op, 22, [F(1, 1, 4)], kernel_shape=[1], strides=[2], ceil_mode=1, pads=[0, 0])
        case(op, 22, [F(1, 1, 2)], kernel_shape=[2], strides=[3], ceil_mode=1, pads=[1, 1])
        case(op, 22, [F(1, 1, 6, 6)], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1,
             pads=[1, 1, 1, 1])
    case("AveragePool", 22, [F(1, 1, 5, 5)], kernel_shape=[2, 2], count_include_pad=1,
         pads=[1, 0, 0, 1])
    case("MaxPool", 22, [F(1, 2, 6, 6)], 2, kernel_shape=[2, 2], strides=[2, 2])
    case("MaxPool", 22, [F(1, 2, 6, 6)], 2, kernel_shape=[2, 2], strides=[2, 2], storage_order=1)
    case("MaxPool", 12, [T("int8", 1, 2, 6)], kernel_shape=[2])
    case("MaxUnpool", 22, [F(1, 1, 2, 2), W("int64", 1, 1, 2, 2)], kernel_shape=[2, 2],
         strides=[2, 2])
    case("MaxUnpool", 22, [F(1, 1, 2, 2), W("int64", 1, 1, 2, 2), C([1, 1, 5, 5])],
         kernel_shape=[2, 2], strides=[2, 2])
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        case(op, 21 if "Lp" in op else 22, [F(2, 3, 4, 5)])
        case(op, 21 if "Lp" in op else 22, [F(2, 3, 4)])
    case("MaxRoiPool", 21, [F(2, 2, 6, 6), W("float", 3, 5)], pooled_shape=[2, 3])
    case("RoiAlign", 16, [F(2, 3, 6, 6), W("float", 4, 4), W("int64", 4)])
    case("RoiAlign", 16, [F(2, 3, 6, 6), W("float", 4, 4), W("int64", 4)], output_height=2,
         output_width=5, mode="max")
    x, w = F(1, 4, 7, 8), F(6, 4, 3, 3)
    case("Conv", 22, [x, w])
    case("Conv", 22, [x, F(6, 2, 3, 2), F(6)], group=2, strides=[2, 1], pads=[1, 0, 1, 2])
    case("Conv", 22, [x, w], auto_pad="SAME_UPPER", strides=[2, 3])
    case("Conv", 22, [x, w], dilations=[2, 2], kernel_shape=[3, 3])
    case("Conv", 22, [F(0, 4, 5), F(2, 4, 2)])
    case("ConvTranspose", 22, [x, F(4, 3, 3, 3)])
    case("ConvTranspose", 22, [x, F(4, 3, 3, 3), F(6)], group=2, strides=[2, 3],
         output_padding=[1, 2], pads=[1, 1, 0, 0])
    case("ConvTranspose", 22, [x, F(4, 3, 3, 3)], output_shape=[15, 18], strides=[2, 2])
    case("ConvTranspose", 22, [x, F(4, 3, 3, 3)], auto_pad="SAME_LOWER", strides=[2, 2])
    case("ConvTranspose", 22, [x, F(4, 3, 2, 2)], auto_pad="VALID", strides=[3, 3],
         dilations=[2, 1])
    case("DeformConv", 22, [F(1, 2, 5, 6), F(3, 2, 2, 2), F(1, 8, 4, 5)])
    case("DeformConv", 19, [F(1, 4, 5, 6), F(6, 2, 3, 3), F(1, 36, 3, 3), F(6), F(1, 18, 3, 3)],
         group=2, offset_group=2, strides=[2, 2], pads=[1, 1, 1, 0])
    case("Col2Im", 18, [F(1, 8, 9), C([4, 4]), C([2, 2])])
    case("Col2Im", 18, [F(2, 6, 4), C([5, 6]), C([2, 3])], strides=[2, 2])
    case("Col2Im", 18, [F(1, 4, 49), C([5, 5]), C([2, 2])], pads=[1, 1, 2, 2])
    case("Col2Im", 18, [F(1, 6, 8), C([4, 4, 4]), C([1, 2, 3])], dilations=[1, 3, 1],
         strides=[1, 1, 2], pads=[0, 0, 0, 0, 1, 0])
    case("Col2Im", 18, [F(1, 6, 4), C([5]), C([2])])
    case("Conv", 22, [F(1, 2, 9), F(3, 2, 3)], strides=[2], pads=[2, 1], dilations=[2])
    case("Conv", 22, [F(1, 2, 5, 6, 7), F(4, 1, 2, 2, 2)], group=2)
    case("Conv", 22, [x, w], auto_pad="SAME_LOWER", strides=[2, 2], dilations=[1, 1])
    case("Conv", 22, [x, w], auto_pad="VALID", strides=[2, 2])
    case("ConvTranspose", 22, [x, F(4, 3, 3, 3)], auto_pad="SAME_UPPER", strides=[3, 2],
         output_shape=[20, 15])
    case("ConvTranspose", 22, [F(1, 4, 7), F(4, 2, 3)], auto_pad="SAME_UPPER", strides=[1])
    case("ConvTranspose", 22, [F(1, 4, 7), F(4, 2, 3)], dilations=[2], pads=[1, 2])
    case("ConvTranspose", 22, [F(1, 4, 7), F(4, 2, 4)], auto_pad="SAME_UPPER", strides=[3],
         output_padding=[1])
    case("MaxPool", 22, [F(1, 1, 9, 9)], kernel_shape=[2, 2], dilations=[3, 2], strides=[2, 2],
         ceil_mode=1)
    case("MaxPool", 22, [F(1, 1, 9, 9)], 2, kernel_shape=[3, 3], auto_pad="SAME_UPPER",
         strides=[4, 4])
    case("AveragePool", 22, [F(1, 1, 9, 9)], kernel_shape=[3, 3], auto_pad="SAME_LOWER",
         strides=[2, 2], ceil_mode=1)
    case("AveragePool", 11, [F(1, 1, 5, 5)], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1,
         count_include_pad=1)
    case("LRN", 13, [F(1, 4, 5, 5)], size=3)
    case("Det", 22, [F(2, 3, 3)])
    case("Det", 22, [F(3, 3)])


def grids():
    for mode in ("linear", "nearest", "cubic"):
        case("GridSample", 20, [F(2, 3, 4, 5), F(2, 6, 7, 2)], mode=mode, align_corners=1)
    case("GridSample", 22, [F(2, 3, 4, 5, 6), F(2, 6, 7, 8, 3)], padding_mode="border")
    case("GridSample", 16, [F(2, 3, 4, 5), F(2, 6, 7, 2)], mode="bicubic",
         padding_mode="reflection")
    case("ms.GridSample", 18, [F(2, 3, 4, 5), F(2, 6, 7, 2)])
    case("AffineGrid", 20, [F(2, 2, 3), C([2, 3, 5, 6])])
    case("AffineGrid", 20, [F(2, 3, 4), C([2, 3, 4, 5, 6])], align_corners=1)
    case("ms.CropAndResize", 18, [F(2, 2, 6, 6), W("float", 3, 4), W("int32", 3),
         C([4, 5], "int32")])


def signal():
    for opset in (17, 20):
        axis = [C(1)] if opset == 20 else []
        attr = {} if opset == 20 else {"axis": 1}
        n = [None] if opset == 20 else []
        case("DFT", opset, [F(2, 6, 3, 1), *n, *axis], **attr)
        case("DFT", opset, [F(2, 6, 3, 2), *n, *axis], inverse=1, **attr)
        case("DFT", opset, [F(2, 6, 3, 1), *n, *axis], onesided=1, **attr)
        case("DFT", opset, [F(2, 6, 3, 1), C(5), *axis], onesided=1, **attr)
        case("DFT", opset, [F(2, 6, 3, 2), C(8), *axis], **attr)
    case("DFT", 20, [F(2, 6, 4, 1)], onesided=1)
    case("DFT", 20, [F(2, 6, 4, 2), None, C(-3)])
    case("DFT", 20, [F(2, 6, 4, 1), C(3), C(-2)], onesided=1)
    case("DFT", 20, [F(2, 4, 2), C(6), C(1)], inverse=1, onesided=1)
    case("DFT", 20, [F(2, 4, 2), None, C(1)], inverse=1, onesided=1)
    case("DFT", 20, [F(2, 4, 2), C(7), C(1)], inverse=1, onesided=1)
    case("DFT", 17, [F(2, 4, 2)], inverse=1, onesided=1)
    case("DFT", 17, [F(2, 6, 1)])
    case("STFT", 17, [F(1, 32, 1), C(4), None, C(8)])
    case("STFT", 17, [F(2, 32, 1), C(8), F(16)])
    case("STFT", 17, [F(2, 32, 1), C(8), F(16)], onesided=0)
    case("STFT", 17, [F(2, 32, 2), C(8), None, C(16)], onesided=0)
    for op in ("BlackmanWindow", "HannWindow", "HammingWindow"):
        case(op, 17, [C(10)])
    case("HannWindow", 17, [C(7, "int32")], output_datatype=11, periodic=0)
    case("MelWeightMatrix", 17, [C(8), C(16), C(8192), C(0.0, "float"), C(4000.0, "float")])


# -- contractions and normalisation --

def products():
    case("MatMul", 13, [F(3), F(3)])
    case("MatMul", 13, [F(2, 1, 3, 4), F(5, 4, 6)])
    case("MatMul", 13, [F(4), F(2, 4, 6)])
    case("MatMul", 13, [F(2, 3, 4), F(4)])
    case("MatMul", 13, [F(2, 0), F(0, 3)])
    case("Gemm", 13, [F(3, 2), F(4, 3), F(1, 4)], transA=1, transB=1)
    case("Gemm", 13, [F(2, 3), F(3, 4)])
    case("Einsum", 12, [F(2, 3, 4), F(2, 4, 5)], equation="bij,bjk->bik")
    case("Einsum", 12, [F(2, 3, 4), F(4, 5)], equation="...j,jk")
    case("Einsum", 12, [F(3, 3)], equation="ii->i")
    case("Einsum", 12, [F(3, 3)], equation="ii")
    case("Einsum", 12, [F(3), F(3)], equation="i,i->")
    case("Einsum", 12, [F(3, 2), F(2, 4)], equation="ab,bc")
    case("Einsum", 12, [F(3, 2), F(2, 4)], equation="cb,ba")
    case("Einsum", 12, [F(2, 3), F(3, 4), F(4, 5)], equation="ij,jk,kl->il")
    case("Einsum", 12, [F(2, 3, 4)], equation="ijk->kij")
    case("Einsum", 12, [F(2, 3, 4)], equation="i...->...i")
    case("MatMulInteger", 10, [T("uint8", 2, 3), T("int8", 3, 4), C(1, "uint8")])
    case("ConvInteger", 10, [T("uint8", 1, 2, 5, 5), T("uint8", 3, 2, 2, 2)], pads=[1, 1, 0, 0])
    s, z = C(0.5, "float"), C(1, "uint8")
    case("QLinearMatMul", 21, [T("uint8", 2, 3), s, z, T("uint8", 3, 4), s, z, s, z])
    case("QLinearMatMul", 21, [T("uint8", 2, 3), s, z, T("int8", 3, 4), s, C(0, "int8"), s, z])
    case("QLinearConv", 10, [T("uint8", 1, 2, 5, 5), s, z, W("uint8", 3, 2, 2, 2), s, z, s, z],
         strides=[2, 2])
    for op in ("GRU", "LSTM", "RNN"):
        gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[op]
        n = 3 if op == "LSTM" else 2
        case(op, 22, [F(5, 2, 3), F(1, gates * 4, 3), F(1, gates * 4, 4)], n, hidden_size=4)
        case(op, 22, [F(5, 2, 3), F(2, gates * 4, 3), F(2, gates * 4, 4)], "a-c"[:n], hidden_size=4,
             direction="bidirectional")
        case(op, 22, [F(5, 2, 3), F(1, gates * 4, 3), F(1, gates * 4, 4)], "-b",
             direction="reverse", hidden_size=4)
    case("NegativeLogLikelihoodLoss", 22, [F(2, 3, 4), W("int64", 2, 4)], reduction="none")
    case("NegativeLogLikelihoodLoss", 22, [F(2, 3), W("int64", 2), F(3)])
    case("SoftmaxCrossEntropyLoss", 13, [F(2, 3, 4), W("int64", 2, 4)], 2, reduction="none")
    case("SoftmaxCrossEntropyLoss", 13, [F(2, 3), W("int64", 2)], reduction="sum")


def normalisation():
    case("GroupNormalization", 18, [F(2, 4, 3), F(2), F(2)], num_groups=2)
    case("GroupNormalization", 21, [F(2, 4, 3, 3), F(4), F(4)], num_groups=2)
    case("GroupNormalization", 21, [H(2, 4, 3, 3), H(4), H(4)], num_groups=4, stash_type=1)
    case("RMSNormalization", 23, [F(2, 3, 4), F(4)])
    case("RMSNormalization", 23, [F(2, 3, 4), F(3, 4)], axis=1)
    for axis in (None, 0, 1, -2):
        dims = [2, 3, 4][axis if axis is not None else -1:]
        case("LayerNormalization", 17, [F(2, 3, 4), F(*dims), F(*dims)], 3, axis=axis)
    case("LayerNormalization", 17, [F(2, 3, 4), F(4)], "a-c")
    case("LayerNormalization", 17, [H(2, 3, 4), H(4)], 3)
    case("LayerNormalization", 17, [T("double", 2, 3, 4), T("double", 4)], 3)
    case("InstanceNormalization", 22, [F(2, 3, 4), F(3), F(3)])
    case("BatchNormalization", 15, [F(2, 3, 4), F(3), F(3), F(3), F(3)])
    case("BatchNormalization", 15, [F(2, 3, 4), F(3), F(3), F(3), F(3)], 3, training_mode=1)
    case("MeanVarianceNormalization", 13, [F(2, 3, 4, 5)])
    case("Dropout", 22, [F(2, 3)], 2)
    case("Dropout", 22, [F(2, 3), C(0.5, "float"), C(1, "bool")], 2)
    case("SimplifiedLayerNormalization", 18, [F(2, 3, 4), F(4)], 2)
    case("SimplifiedLayerNormalization", 18, [H(2, 3, 4), H(4)], axis=-1)


def random():
    case("RandomNormal", 21, [], shape=[2, 3])
    case("RandomUniform", 21, [], shape=[2, 3], dtype=11)
    case("RandomNormalLike", 21, [T("double", 2, 3)])
    case("RandomUniformLike", 21, [I(2, 3)], dtype=1)
    case("Bernoulli", 21, [F(2, 3)])
    case("Bernoulli", 21, [F(2, 3)], dtype=9)
    case("Multinomial", 21, [F(2, 3)], sample_size=5)
    case("Multinomial", 21, [F(2, 3)], dtype=7)


# -- attention --

def attention():
    for opset in (23, 24):
        q, k = F(2, 4, 3, 8), F(2, 4, 5, 8)
        case("Attention", opset, [q, k, k])
        case("Attention", opset, [q, k, F(2, 4, 5, 6)], "a--d", qk_matmul_output_mode=1)
        case("Attention", opset, [q, k, k, F(3, 5)], is_causal=1)
        case("Attention", opset, [q, k, k, None, F(2, 4, 7, 8), F(2, 4, 7, 8)], 3)
        case("Attention", opset, [q, k, F(2, 4, 5, 6), T("bool", 1, 1, 3, 12), F(2, 4, 7, 8),
             F(2, 4, 7, 6)], 4)
        case("Attention", opset, [q, F(2, 2, 5, 8), F(2, 2, 5, 8)])
        case("Attention", opset, [F(2, 3, 32), F(2, 5, 16), F(2, 5, 12)], q_num_heads=4,
             kv_num_heads=2)
        case("Attention", opset, [F(2, 3, 32), F(2, 5, 32), F(2, 5, 32), None, F(2, 4, 7, 8),
             F(2, 4, 7, 8)], 4,
             q_num_heads=4, kv_num_heads=4, qk_matmul_output_mode=3)
        case("Attention", opset, [F(2, 3, 32), F(2, 5, 16), F(2, 5, 12), None, F(2, 2, 7, 8),
             F(2, 2, 7, 6)], "abc",
             q_num_heads=4, kv_num_heads=2, softcap=2.0)
        case("Attention", opset, [H(2, 4, 3, 8), H(2, 4, 5, 8), H(2, 4, 5, 8)], softmax_precision=1,
             scale=0.5)
    case("Attention", 23, [F(2, 4, 3, 8), F(2, 4, 5, 8), F(2, 4, 5, 8)], 3)
    case("Attention", 24, [F(2, 4, 3, 8), F(2, 4, 5, 8), F(2, 4, 5, 8), None, None, None,
         C([4, 5])])
    case("RotaryEmbedding", 23, [F(2, 4, 3, 8), F(10, 4), F(10, 4), W("int64", 2, 3)])
    case("RotaryEmbedding", 23, [F(2, 3, 32), F(10, 4), F(10, 4), W("int64", 2, 3)], num_heads=4)
    case("RotaryEmbedding", 23, [F(2, 4, 3, 8), F(2, 3, 4), F(2, 3, 4)], interleaved=1)
    case("RotaryEmbedding", 23, [H(2, 4, 3, 8), H(2, 3, 2), H(2, 3, 2)], rotary_embedding_dim=4)


def ms_attention():
    x, w, b = F(2, 3, 8), F(8, 24), F(24)
    case("ms.Attention", 18, [x, w, b], num_heads=2)
    case("ms.Attention", 18, [x, w, b, W("int32", 2, 3)], num_heads=2)
    case("ms.Attention", 18, [x, w, b, W("int32", 2)], num_heads=2, unidirectional=1)
    case("ms.Attention", 18, [x, w, b, None, F(2, 2, 2, 5, 4)], 2, num_heads=2)
    case("ms.Attention", 18, [x, w, b, W("int32", 2, 8), F(2, 2, 2, 5, 4)], 2, num_heads=2)
    case("ms.Attention", 18, [x, w, b], 2, num_heads=2)
    case("ms.Attention", 18, [x, F(8, 32), F(32)], num_heads=2, qkv_hidden_sizes=[8, 8, 16])
    case("ms.Attention", 18, [x, w, b, None, None, F(1, 2, 3, 3)], num_heads=2)
    q, k = F(2, 3, 8), F(2, 5, 8)
    mha = "ms.MultiHeadAttention"
    case(mha, 18, [q, k, k], num_heads=2)
    case(mha, 18, [q, k, F(2, 5, 12), F(28)], num_heads=2)
    case(mha, 18, [q, k, k, None, W("int32", 2, 5)], num_heads=2)
    case(mha, 18, [q, k, k], 3, num_heads=2)
    case(mha, 18, [q, k, F(2, 5, 12)], 4, stated="float", num_heads=2)
    case(mha, 18, [q, q, q, None, None, None, F(2, 2, 4, 4), F(2, 2, 4, 4)], 3, num_heads=2)
    case(mha, 18, [q, q, q, None, None, F(1, 2, 3, 7), F(2, 2, 4, 4), F(2, 2, 4, 4)], 4,
         stated="float", num_heads=2)
    case(mha, 18, [q, F(2, 2, 5, 4), F(2, 2, 5, 4)], num_heads=2)
    case(mha, 18, [q, F(2, 2, 5, 4), F(2, 2, 5, 4)], 3, num_heads=2)
    case(mha, 18, [q, q, q, None, None, None, F(2, 2, 9, 4), F(2, 2, 9, 4), C([2], "int32")], 3,
         num_heads=2)
    one = F(2, 1, 8)
    dec = "ms.DecoderMaskedMultiHeadAttention"
    case(dec, 18, [one, F(2, 2, 5, 4), F(2, 2, 5, 4)], num_heads=2)
    case(dec, 18, [one, one, one, None, None, F(2, 2, 9, 4), F(2, 2, 9, 4), C([4], "int32")], 3,
         num_heads=2, past_present_share_buffer=1)
    case(mha, 18, [q, q, q, None, None, None, F(2, 2, 9, 4), F(2, 2, 9, 4), C([2], "int32")], 4,
         stated="float", num_heads=2)
    case(dec, 18, [one, one, one, None, None, F(2, 2, 9, 4), F(2, 2, 9, 4), C([4], "int32")], 4,
         stated="float",
         num_heads=2, past_present_share_buffer=1, output_qk=1)
    case(mha, 18, [q, F(2, 2, 5, 4), F(2, 2, 5, 4), F(24)], num_heads=2)
    gqa = "ms.GroupQueryAttention"
    heads = {"num_heads": 4, "kv_num_heads": 2}
    for past, batch in ((0, 2), (3, 1)):
        p = [F(batch, 2, past, 16), F(batch, 2, past, 16)] if past else [None, None]
        lens = [C([past + 1] * batch, "int32"), C(past + 2, "int32")]
        case(gqa, 18, [F(batch, 2, 64), F(batch, 2, 32), F(batch, 2, 32), *p, *lens], 3, **heads)
        case(gqa, 18, [F(batch, 2, 128), None, None, *p, *lens], 3, **heads)
        case(gqa, 18, [F(batch, 2, 128), None, None, *p, *lens, F(20, 8), F(20, 8)], 3, do_rotary=1,
             **heads)
    case(gqa, 18, [F(2, 1, 32), F(2, 1, 16), F(2, 1, 16), F(2, 2, 9, 8), F(2, 2, 9, 8),
         C([3, 4], "int32"), C(5, "int32")],
         3, num_heads=4, kv_num_heads=2)
    case(gqa, 18, [H(2, 1, 32), H(2, 1, 16), H(2, 1, 16), H(2, 2, 4, 8), H(2, 2, 4, 8),
         C([4, 4], "int32"), C(5, "int32")],
         3, num_heads=4, kv_num_heads=2, local_window_size=2)
    case(gqa, 18, [F(2, 1, 32), F(2, 1, 16), F(2, 1, 16), F(2, 2, 4, 8), F(2, 2, 4, 8),
         C([4, 4], "int32"), C(5, "int32"),
                   None, None, None, None, None], 4, num_heads=4, kv_num_heads=2, qk_output=1)
    tail = [C([4, 4], "int32"), C(5, "int32")]
    past = [F(2, 2, 4, 8), F(2, 2, 4, 8)]
    case(gqa, 18, [F(2, 1, 32), F(2, 1, 16), F(2, 1, 16), *past, *tail, None, None, None,
         F(1, 1, 1, 5)], 3, smooth_softmax=1, **heads)
    case(gqa, 18, [F(2, 1, 32), F(2, 1, 16), F(2, 1, 16), *past, *tail, None, None, None, None,
         F(4)], 3, **heads)
    case(gqa, 18, [F(2, 3, 32), F(2, 3, 16), F(2, 3, 16), None, None, C([2, 2], "int32"),
         C(3, "int32")], 1, **heads)
    case(gqa, 18, [F(2, 1, 32), F(2, 1, 16), F(2, 1, 16), *past, *tail, None, None, None, None,
         None], 4, qk_output=2, **heads)
    case(gqa, 18, [F(2, 1, 32), F(2, 1, 16), F(2, 1, 16), F(2, 2, 9, 8), F(2, 2, 9, 8), *tail], 4,
         qk_output=1, **heads)
    case(gqa, 18, [F(2, 1, 32), F(2, 1, 16), F(2, 1, 16), F(2, 2, 4, 8), F(2, 2, 4, 8),
         C([2, 4], "int32"), C(5, "int32")], 4, qk_output=1, **heads)
    case(gqa, 18, [F(2, 3, 32), F(2, 3, 16), F(2, 3, 16), None, None, C([2, 2], "int32"),
         C(3, "int32")], 4, qk_output=1, **heads)
    case("ms.Attention", 18, [F(2, 3, 6), F(6, 40), F(40), None, None, None], 1, num_heads=2,
         qkv_hidden_sizes=[12, 12, 16])
    case("ms.Attention", 18, [x, w, b, W("int32", 2, 3, 3)], num_heads=2)
    case("ms.Attention", 18, [x, w, b, W("int32", 8), None], num_heads=2, mask_filter_value=-5.0,
         scale=0.5)
    for interleaved in (0, 1):
        case("ms.RotaryEmbedding", 18, [F(2, 3, 32), W("int64", 2, 3), F(10, 4), F(10, 4)],
             interleaved=interleaved)
    case("ms.RotaryEmbedding", 18, [F(2, 4, 3, 8), W("int64", 1), F(10, 4), F(10, 4)])
    case("ms.RotaryEmbedding", 18, [F(2, 3, 32), W("int64", 2, 3), F(10, 2), F(10, 2)], num_heads=4,
         rotary_embedding_dim=4)
    s, z = C(0.5, "float"), C(1, "uint8")
    case("ms.QAttention", 18, [T("uint8", 2, 3, 8), W("uint8", 8, 24), W("float", 24), s, s, None,
         z, z], num_heads=2)
    case("ms.QAttention", 18, [T("uint8", 2, 3, 8), W("uint8", 8, 24), W("float", 24), s, s, None,
         z, z, F(2, 2, 2, 5, 4)], 2, num_heads=2)


def recurrent():
    linear, conv = "ms.LinearAttention", "ms.CausalConvWithState"
    short, long, gate = F(2, 3, 8), F(2, 3, 16), F(2, 3, 2)
    v = F(2, 3, 12)
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    case(linear, 18, [short, short, short], 2, update_rule="linear", **heads)
    case(linear, 18, [H(2, 3, 8), H(2, 3, 8), H(2, 3, 8)], 2, update_rule="linear", **heads)
    case(linear, 18, [short, short, v, None, gate, gate], 2, **heads)
    case(linear, 18, [short, short, v, F(2, 2, 4, 6)], 2, update_rule="linear", **heads)
    case("LinearAttention", 27, [short, short, v, F(2, 2, 4, 6)], 2, update_rule="linear",
         **heads)
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    case("LinearAttention", 27, [long, short, v, None, gate, gate], 2, **heads)
    case(linear, 18, [long, short, v, None, short], 2, update_rule="gated", **heads)
    case(linear, 18, [long, F(2, 3, 4), v, None, short], 2, update_rule="gated", **heads)
    case(linear, 18, [long, short, v, None, gate, F(2, 3, 1)], 2, **heads)
    heads = {"q_num_heads": 2, "kv_num_heads": 4}
    gate, state = F(2, 3, 4), F(2, 4, 4, 3)
    case(linear, 18, [short, short, v, None, gate, gate], 2, **heads)
    case(linear, 18, [short, short, v, state, gate, gate], 2, **heads)
    gate = H(2, 3, 4)
    case(linear, 18, [H(2, 3, 8), H(2, 3, 16), H(2, 3, 12), state, gate, gate], 2, **heads)
    for op, version in ((conv, 18), ("CausalConvWithState", 27)):
        case(op, version, [F(2, 4, 6), F(4, 1, 3)], 2)
        case(op, version, [F(2, 4, 6), F(4, 1, 3), F(4), F(2, 4, 2)], 2, activation="silu")
    case(conv, 18, [F(2, 4, 6), F(4, 1, 1)], 2)
    case(conv, 18, [F(2, 4, 6), F(4, 1, 3)], 2, dilation=2)
    case(conv, 18, [F(2, 6, 4), F(4, 1, 3)], 2, channels_last=1)
    case(conv, 18, [F(2, 6, 4), F(4, 1, 3)], 2, channels_last=1, dilation=2)
    case(conv, 18, [F(2, 6, 4, 3), F(12, 1, 3)], 2, channels_last=1)
    case("ms.LinearAttentionGate", 18, [F(2, 3, 4), F(4), F(4), F(2, 3, 4)], 2)
    case("ms.LinearAttentionGate", 18, [H(2, 3, 4), F(4), F(4)])
    case("ms.GatedAdd", 18, [F(2, 3, 4), F(2, 3, 4), F(2, 3, 1)])
    case("ms.GatedRMSNorm", 18, [F(2, 3, 4), F(4), F(2, 3, 4)])
    case("ms.GatedRMSNorm", 18, [H(2, 3, 8), H(4), H(2, 3, 8)])
    position, table = W("int64", 3, 2, 3), F(10, 4)
    for x in (F(2, 4, 3, 8), F(2, 3, 32)):
        case("ms.MRotaryEmbedding", 18, [x, position, table, table], mrope_section=[2, 1, 1],
             num_heads=4)
    case("ms.EngramGate", 18, [F(2, 3, 5, 4), F(2, 3, 5, 4), F(2, 3, 4), F(5, 4), F(5, 4)])
    ids = T("int32", 2, 5)
    case("ms.NGramHashMapping", 18, [I(2, 5), I(3), I(4)], 2, max_ngram_size=3,
         n_head_per_ngram=2, pad_id=0)
    case("ms.NGramHashMapping", 18, [ids, T("int32", 4), T("int32", 6), T("int32", 2, 3)], 2,
         max_ngram_size=4, n_head_per_ngram=2, pad_id=0)


# -- quantisation --

def quantisation():
    for opset in (19, 21, 23, 24, 25):
        case("QuantizeLinear", opset, [F(2, 3), C(0.5, "float")])
        case("DequantizeLinear", opset, [T("uint8", 2, 3), C(0.5, "float")])
    for dtype in ("int8", "uint16", "int16", "int4", "uint4", "float8e4m3fn", "float8e5m2"):
        case("QuantizeLinear", 21, [F(2, 3), F(3), W(dtype, 3)], claim=dtype, axis=1)
        zero = None if "float" in dtype else W(dtype, 3)
        case("DequantizeLinear", 21, [W(dtype, 2, 3), F(3), zero], axis=-1)
    for to in (2, 3, 4, 5, 17, 19, 21, 22):
        case("QuantizeLinear", 21, [F(2, 3), F()], claim=RAW.get(to), output_dtype=to)
    case("QuantizeLinear", 21, [H(2, 3), H()])
    case("QuantizeLinear", 21, [F(2, 8), F(2, 2), W("int8", 2, 2)], axis=1, block_size=4)
    case("QuantizeLinear", 21, [F(5, 3), F(3, 3), W("uint4", 3, 3)], claim="uint4", axis=0,
         block_size=2)
    case("QuantizeLinear", 23, [F(2, 3), F()], precision=1)
    case("DequantizeLinear", 21, [W("int4", 2, 8), F(2, 2)], axis=1, block_size=4)
    case("DequantizeLinear", 21, [W("uint4", 5, 3), F(3, 3), W("uint4", 3, 3)], axis=0,
         block_size=2)
    case("DequantizeLinear", 21, [T("int8", 2, 3), H()])
    case("DequantizeLinear", 21, [T("int32", 2, 3), F()])
    case("DynamicQuantizeLinear", 11, [F(2, 3)], 3)
    case("ms.QuantizeLinear", 18, [F(2, 3), C(0.5, "float"), C(1, "uint16")])
    case("ms.QuantizeLinear", 18, [F(2, 3), C(0.5, "float"), C(1, "int8")])
    case("ms.DequantizeLinear", 18, [T("int16", 2, 3), C(0.5, "float")])
    case("ms.DequantizeLinear", 18, [T("int32", 2, 3), C(0.5, "float")])


def ms_quantised():
    s, z = C(0.5, "float"), C(1, "uint8")
    q = T("uint8", 1, 2, 6, 6)
    for op in ("QLinearAdd", "QLinearMul"):
        case("ms." + op, 18, [T("uint8", 2, 1, 3), s, z, T("uint8", 4, 1), s, z, s, z])
        case("ms." + op, 18, [T("int8", 2, 3), s, C(1, "int8"), T("int8"), s, C(1, "int8"), s,
             C(1, "int8")])
    case("ms.QLinearLeakyRelu", 18, [q, s, z, s, z], alpha=0.1)
    case("ms.QLinearSigmoid", 18, [q, s, z, s, z])
    case("ms.QLinearSoftmax", 18, [q, s, z, s, z], axis=1, opset=13)
    case("ms.QLinearAveragePool", 18, [q, s, z, s, z], kernel_shape=[3, 2], strides=[2, 2],
         ceil_mode=1)
    case("ms.QLinearAveragePool", 18, [T("uint8", 1, 6, 6, 2), s, z, s, z], kernel_shape=[3, 2],
         pads=[1, 0, 1, 0], channels_last=1)
    case("ms.QLinearGlobalAveragePool", 18, [q, s, z, s, z])
    case("ms.QLinearGlobalAveragePool", 18, [T("uint8", 1, 6, 6, 2), s, z, s, z], channels_last=1)
    case("ms.QLinearConcat", 18, [s, z, T("uint8", 2, 3), s, z, T("uint8", 2, 4), s, z], axis=1)
    case("ms.QLinearConcat", 18, [s, z, T("uint8", 2, 3), s, z], axis=0)
    case("ms.QLinearWhere", 18, [T("bool", 2, 1), T("uint8", 3), s, z, T("uint8"), s, z, s, z])
    case("ms.QLinearConv", 18, [q, s, z, W("uint8", 3, 2, 3, 3), s, z, s, z], pads=[1, 1, 1, 1])
    case("ms.QLinearConv", 18, [T("uint8", 1, 6, 6, 2), s, z, W("uint8", 3, 2, 3, 3), s, z, s, z],
         channels_last=1)
    case("ms.QGemm", 18, [T("uint8", 2, 3), s, z, W("uint8", 3, 4), s, z, None, s, z])
    case("ms.QGemm", 18, [T("uint8", 2, 3), s, z, W("uint8", 4, 3), s, z, W("int32", 4)], transB=1)
    case("ms.DynamicQuantizeMatMul", 18, [F(2, 3, 4), T("int8", 4, 5), s])
    case("ms.DynamicQuantizeMatMul", 18, [F(3, 4), W("uint8", 4, 5), s, z, F(5)])
    case("ms.MatMulIntegerToFloat", 18, [T("uint8", 2, 3), T("uint8", 3, 4), s, s, z, z])
    case("ms.MatMulIntegerToFloat", 18, [T("uint8", 2, 2, 3), T("int8", 3, 4), s, W("float", 4), z,
         None, F(4)])
    case("ms.MatMulInteger16", 18, [T("int16", 2, 3), T("int16", 3, 4)])
    case("ms.DynamicQuantizeLSTM", 18, [F(5, 2, 3), W("int8", 1, 3, 16), W("int8", 1, 4, 16), None,
         None, None, None, None,
                                        W("float", 1), W("int8", 1), W("float", 1), W("int8", 1)],
                                          3, hidden_size=4)
    case("ms.QEmbedLayerNormalization", 18,
         [W("int32", 2, 3), W("int32", 2, 3), W("uint8", 9, 4), W("uint8", 5, 4), W("uint8", 2, 4),
         W("uint8", 4),
          W("uint8", 4), W("int32", 2, 3), s, s, s, s, s, z, z, z, z, z], 2)
    for n, k, block, bits in ((5, 32, 16, 4), (8, 40, 32, 4), (4, 64, 32, 8), (4, 64, 32, 2)):
        blocks = (k + block - 1) // block
        weights = [W("uint8", n, blocks, block * bits // 8), F(n * blocks)]
        case("ms.MatMulNBits", 18, [F(2, 3, k), *weights], K=k, N=n, bits=bits, block_size=block)
    case("ms.MatMulNBits", 18, [F(32), W("uint8", 5, 2, 8), F(5, 2)], K=32, N=5, bits=4,
         block_size=16)
    case("ms.MatMulNBits", 18, [F(3, 32), W("uint8", 5, 2, 8), F(10), W("uint8", 5), None, F(5)],
         K=32, N=5, bits=4, block_size=16, accuracy_level=4)
    case("ms.MatMulNBits", 18, [H(3, 32), W("uint8", 5, 2, 8), H(10)], K=32, N=5, bits=4,
         block_size=16)
    case("ms.MatMulBnb4", 18, [F(2, 3, 32), W("uint8", 80), F(10)], K=32, N=5, block_size=16,
         quant_type=1)
    gbq = "ms.GatherBlockQuantized"
    case(gbq, 18, [W("int4", 6, 32), C([[0, 1], [2, 3]]), F(6, 2)], gather_axis=0, quantize_axis=1,
         block_size=16)
    case(gbq, 18, [W("uint4", 6, 32), C([0, 1]), F(6, 2), W("uint4", 6, 2)], gather_axis=0,
         quantize_axis=-1, block_size=16)
    case(gbq, 18, [W("int4", 6, 32), C(1), F(6, 2)], quantize_axis=1, block_size=16)
    case(gbq, 18, [W("uint8", 6, 16), C([0, 1]), F(6, 2)], bits=4, quantize_axis=1, block_size=16)
    case(gbq, 18, [W("uint8", 6, 16), C([0, 1]), H(6, 2), W("uint8", 6, 1)], bits=4,
         quantize_axis=1, block_size=16)
    case(gbq, 18, [W("uint8", 6, 32), C([[0, 1]]), F(6, 2)], bits=8, quantize_axis=1, block_size=16)
    case(gbq, 18, [W("uint8", 6, 8), C([[0, 1]]), F(6, 2)], bits=2, quantize_axis=1, block_size=16)
    moe = {"k": 2, "activation_type": "relu"}
    case("ms.MoE", 18, [F(2, 3, 8), F(6, 4), F(4, 16, 8), None, F(4, 8, 16)], **moe)
    case("ms.MoE", 18, [F(6, 8), F(6, 4), F(4, 16, 8), F(4, 16), F(4, 8, 16), F(4, 8)], **moe)
    case("ms.QMoE", 18, [F(6, 32), F(6, 4), W("uint8", 4, 64, 16), F(4, 64), None,
         W("uint8", 4, 32, 32), F(4, 32)], expert_weight_bits=4, **moe)


# -- fused operators --

def ms_fused():
    case("ms.SkipLayerNormalization", 18, [F(2, 3, 8), F(2, 3, 8), F(8)])
    case("ms.SkipLayerNormalization", 18, [F(2, 3, 8), F(2, 3, 8), F(8), F(8), F(8)], "a--d")
    case("ms.SkipLayerNormalization", 18, [F(2, 3, 8), F(1, 3, 8), F(8), F(8)], "a--d")
    case("ms.SkipLayerNormalization", 18, [F(2, 3, 8), F(3, 8), F(8), F(8)])
    case("ms.SkipLayerNormalization", 18, [H(2, 3, 8), H(2, 3, 8), H(8)], "a--d")
    case("ms.SkipLayerNormalization", 18, [F(6, 8), F(6, 8), F(8)], "a--d")
    case("ms.SkipSimplifiedLayerNormalization", 18, [F(2, 3, 8), F(2, 3, 8), F(8)], "a--d")
    case("ms.SkipSimplifiedLayerNormalization", 18, [F(2, 3, 8), F(3, 8), F(8)], "a--d")
    case("ms.QLinearConv", 18, [T("uint8", 1, 6, 6, 4), C(0.5, "float"), C(1, "uint8"),
         W("int8", 6, 2, 3, 3), W("float", 6), W("int8", 6), C(0.5, "float"), C(1, "uint8"),
         W("int32", 6)], channels_last=1, group=2, strides=[2, 2], pads=[1, 1, 1, 1])
    case("ms.NhwcMaxPool", 18, [T("int8", 1, 7, 4)], kernel_shape=[3], strides=[2], pads=[1, 0],
         ceil_mode=1)
    case("ms.SkipSimplifiedLayerNormalization", 18, [F(6, 8), F(6, 8), F(8), F(8)])
    ids, table = W("int32", 2, 3), [F(9, 8), F(5, 8)]
    case("ms.EmbedLayerNormalization", 18, [ids, ids, *table, F(2, 8), F(8), F(8), ids], 2)
    case("ms.EmbedLayerNormalization", 18, [ids, None, *table, None, F(8), F(8)], 3)
    case("ms.EmbedLayerNormalization", 18, [ids, None, *table, None, F(8), F(8)], "a-c")
    case("ms.EmbedLayerNormalization", 18, [ids, None, *table, None, F(8), F(8), None, W("int32", 1,
         3)], 2, mask_index_type=0)
    for op in ("Gelu", "QuickGelu", "FastGelu"):
        case("ms." + op, 18, [F(2, 3, 4)])
    case("ms.FastGelu", 18, [F(2, 3, 4), F(4)])
    case("ms.BiasGelu", 18, [F(2, 3, 4), F(4)])
    for op in ("FusedMatMul", "TransposeMatMul"):
        case("ms." + op, 18, [F(2, 3, 4), F(2, 5, 4)], transB=1)
        case("ms." + op, 18, [F(4, 3), F(4, 5)], transA=1, alpha=0.5)
    case("ms.FusedMatMul", 18, [F(2, 3, 4), F(4, 6)])
    case("ms.FusedMatMul", 18, [F(3, 2, 4), F(2, 4, 5)], transBatchA=1)
    case("ms.FusedMatMul", 18, [F(3, 6, 2, 4), F(6, 2, 5, 4)], transBatchA=1, transB=1)
    case("ms.FusedMatMul", 18, [F(4), F(4, 6)])
    case("ms.FusedMatMul", 18, [F(2, 4, 3), F(4)], transA=1)
    case("ms.FusedMatMul", 18, [F(4), F(6, 4)], transB=1)
    case("ms.FusedGemm", 18, [F(2, 3), F(4, 3), F(4)], transB=1, activation="Relu")
    case("ms.FusedConv", 18, [F(1, 4, 7, 8), F(6, 2, 3, 3), F(6)], group=2, pads=[1, 0, 1, 0],
         activation="Relu")
    case("ms.FusedConv", 18, [F(1, 2, 5, 5), F(2, 2, 3, 3), None, F(1, 2, 3, 3)], activation="Relu")
    case("ms.NhwcMaxPool", 18, [T("uint8", 1, 7, 8, 4)], kernel_shape=[2, 3], strides=[2, 2])
    case("ms.MaxpoolWithMask", 18, [F(1, 2, 6, 6), W("int32", 1, 1, 6, 6)], kernel_shape=[2, 2],
         strides=[2, 2])
    case("ms.Inverse", 18, [F(2, 3, 3)])
    case("ms.CDist", 18, [F(3, 4), F(5, 4)], metric="euclidean")
    case("ms.NGramRepeatBlock", 18, [I(2, 6), F(2, 9)], ngram_size=2)
    case("ms.MurmurHash3", 18, [T("int32", 2, 3)])
    case("ms.MurmurHash3", 18, [T("string", 4)], positive=0)
    case("ms.UnfoldTensor", 18, [F(2, 8)], dim=-1, size=4, step=2)
    open_case("ms.DynamicTimeWarping", 18, [F(4, 6)])
    open_case("ms.Tokenizer", 18, [T("string", 2)], mark=0, pad_value="#", separators=[" "],
              mincharnum=1)
    open_case("ms.BifurcationDetector", 18, [C([1, 2, 3, 4]), C([2, 3]), C([2])], 2,
              min_ngram_size=1, max_ngram_size=2)


# -- classic models; the version is that of ai.onnx.ml --

def classic():
    x = F(4, 3)
    case("ml.ArrayFeatureExtractor", 3, [x, C([0, 2])])
    case("ml.ArrayFeatureExtractor", 3, [F(3), C([0, 2])])
    case("ml.ArrayFeatureExtractor", 3, [F(2, 4, 3), C([0, 2])])
    case("ml.ArrayFeatureExtractor", 3, [x, C([[0, 2]])])
    case("ml.Binarizer", 3, [x], threshold=0.5)
    case("ml.CategoryMapper", 3, [T("string", 4, 1)], cats_int64s=[1, 2], cats_strings=["a", "b"])
    case("ml.CategoryMapper", 3, [I(4)], cats_int64s=[1, 2], cats_strings=["a", "b"])
    case("ml.FeatureVectorizer", 3, [F(4, 2), F(4, 3)], inputdimensions=[2, 3])
    case("ml.FeatureVectorizer", 3, [I(2), I(3)], inputdimensions=[2, 3])
    case("ml.Imputer", 3, [x], imputed_value_floats=[1.0, 2.0, 3.0])
    case("ml.Imputer", 3, [I(4, 3)], imputed_value_int64s=[1], replaced_value_int64=3)
    case("ml.LabelEncoder", 3, [I(4, 2)], keys_int64s=[1, 2], values_strings=["a", "b"])
    case("ml.LabelEncoder", 3, [T("string", 4)], keys_strings=["a", "b"], values_floats=[1.0, 2.0])
    case("ml.LabelEncoder", 3, [F(4)], keys_floats=[1.0, 2.0], values_int64s=[1, 2])
    case("ml.LabelEncoder", 4, [I()], keys_int64s=[1, 2],
         values_tensor=helper.make_tensor("v", 11, [2], [1, 2]))
    case("ml.LinearRegressor", 3, [x], coefficients=[1.0, 2.0, 3.0], intercepts=[1.0])
    case("ml.LinearRegressor", 3, [x], coefficients=[1.0, 2.0, 3.0] * 2, intercepts=[1.0, 2.0],
         targets=2)
    case("ml.LinearRegressor", 3, [F(3)], coefficients=[1.0, 2.0, 3.0])
    for post in ("NONE", "SOFTMAX", "PROBIT"):
        linear = {"coefficients": [1.0] * 9, "intercepts": [0.0] * 3, "post_transform": post}
        case("ml.LinearClassifier", 3, [x], 2, classlabels_ints=[0, 1, 2], **linear)
    case("ml.LinearClassifier", 3, [x], 2, classlabels_strings=["a", "b"], coefficients=[1.0] * 6,
         intercepts=[0.0] * 2)
    case("ml.LinearClassifier", 3, [x], 2, classlabels_ints=[0, 1], coefficients=[1.0] * 3,
         intercepts=[0.0])
    case("ml.LinearClassifier", 3, [I(4, 3)], 2, classlabels_ints=[0, 1], coefficients=[1.0] * 6,
         intercepts=[0.0] * 2)
    case("ml.LinearClassifier", 3, [F(3)], 2, classlabels_ints=[0, 1], coefficients=[1.0] * 6,
         intercepts=[0.0] * 2)
    for norm in ("MAX", "L1", "L2"):
        case("ml.Normalizer", 3, [x], norm=norm)
    case("ml.Normalizer", 3, [T("double", 3)])
    case("ml.OneHotEncoder", 3, [I(4)], cats_int64s=[1, 2, 3])
    case("ml.OneHotEncoder", 3, [T("string", 4, 2)], cats_strings=["a b", "b"])
    case("ml.OneHotEncoder", 3, [F(4, 1)], cats_int64s=[0, 1], zeros=1)
    case("ml.Scaler", 3, [T("double", 4, 3)], offset=[1.0], scale=[2.0])
    case("ml.Scaler", 3, [T("int32", 3)], offset=[1.0] * 3, scale=[2.0] * 3)
    svm = {"coefficients": [1.0, -1.0], "support_vectors": [1.0] * 6,
           "kernel_type": "LINEAR", "kernel_params": [0.1, 0.0, 3.0]}
    case("ml.SVMRegressor", 3, [x], n_supports=2, rho=[0.5], **svm)
    case("ml.SVMRegressor", 3, [F(3)], n_supports=2, rho=[0.5], **svm)
    case("ml.SVMClassifier", 3, [x], 2, classlabels_ints=[0, 1], vectors_per_class=[1, 1],
         rho=[0.5], **svm)
    case("ml.SVMClassifier", 3, [x], 2, classlabels_ints=[0, 1], vectors_per_class=[1, 1],
         rho=[0.5], prob_a=[1.0], prob_b=[0.0], **svm)
    case("ml.SVMClassifier", 3, [T("double", 4, 3)], 2, classlabels_strings=["a", "b", "c"],
         vectors_per_class=[1, 1, 1], rho=[0.5] * 3,
         coefficients=[1.0] * 6, support_vectors=[1.0] * 9, kernel_type="RBF",
         kernel_params=[0.1, 0.0, 3.0])
    case("ml.SVMClassifier", 3, [F(3)], 2, classlabels_ints=[0, 1], vectors_per_class=[1, 1],
         rho=[0.5], **svm)
    tree = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2],
            "nodes_featureids": [1, 0, 0], "nodes_values": [0.5, 0.0, 0.0],
            "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
            "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
    leaves = {"treeids": [0, 0], "nodeids": [1, 2], "ids": [0, 1], "weights": [1.0, 2.0]}
    for version in (1, 3):
        classes = {"class_" + k: v for k, v in leaves.items()}
        case("ml.TreeEnsembleClassifier", version, [x], 2, classlabels_int64s=[0, 1], **classes,
             **tree)
        targets = {"target_" + k: v for k, v in leaves.items()}
        case("ml.TreeEnsembleRegressor", version, [x], n_targets=2, **targets, **tree)
    case("ml.TreeEnsembleClassifier", 3, [x], 2, classlabels_strings=["a", "b", "c"], **classes,
         **tree)
    case("ml.TreeEnsembleRegressor", 3, [T("double", 4, 3)], n_targets=2, aggregate_function="MAX",
         **targets, **tree)
    leaf = {"leaf_targetids": [0, 1], "nodes_falseleafs": [1], "nodes_falsenodeids": [1],
            "nodes_featureids": [0], "nodes_trueleafs": [1], "nodes_truenodeids": [0],
            "tree_roots": [0], "n_targets": 2,
            "nodes_modes": helper.make_tensor("m", 2, [1], [0])}
    for number, kind in ((1, F), (11, lambda *dims: T("double", *dims))):
        case("ml.TreeEnsemble", 5, [kind(4, 3)], leaf_weights=helper.make_tensor("w", number, [2],
             [1.0, 2.0]),
             nodes_splits=helper.make_tensor("s", number, [1], [0.5]), **leaf)


# -- values: what an operator computes becomes a shape, so that its numbers are compared --

def value(op, version, inputs, n_out=1, /, add=0, may_be_open=False, **attributes):
    """All results of the operator, with `add` on top, as whole numbers: a shape."""
    names = ["" if v is None else f"x{k}" for k, v in enumerate(inputs)]
    outputs = [f"v{k}" for k in range(n_out)]
    rows = [f"row {name}" for name in outputs]
    nodes = [node_of(op, names, outputs, attributes),
             helper.make_node("Constant", [], ["row"], value_ints=[-1]),
             helper.make_node("Constant", [], ["more"], value_int=add)]
    for name, row in zip(outputs, rows):
        nodes.append(helper.make_node("Cast", [name], [f"whole {name}"], to=TensorProto.INT64))
        nodes.append(helper.make_node("Reshape", [f"whole {name}", "row"], [row]))
    nodes += [helper.make_node("Concat", rows, ["all"], axis=0),
              helper.make_node("Add", ["all", "more"], ["shape"]),
              helper.make_node("ConstantOfShape", ["shape"], ["y"])]
    given = ", ".join("-" if v is None else str(v) for v in inputs)
    text = f"value of {op}@{version}({given})" + show(attributes) + (f" + {add}" if add else "")
    record(text, version, inputs, nodes, may_be_open)


def open_value(*arguments, **attributes):
    """What is not worked out, but must not be said wrongly."""
    value(*arguments, may_be_open=True, **attributes)


def values():
    a, b = C([7, -7, 7, -7]), C([2, 2, -2, -2])
    for op in ("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max"):
        value(op, 18, [a, b], add=20)
        value(op, 18, [C([7, 3], "int32"), C(2, "int32")], add=2)
    value("Mod", 18, [a, b], add=20, fmod=1)
    value("Div", 18, [C([7, 9], "uint8"), C([2, 4], "uint8")])
    value("Pow", 18, [C([2, 3]), C([3, 2])])
    open_value("Pow", 18, [C([4, 9]), C(0.5, "float")])
    value("Pow", 18, [C([2.0, 9.0], "float"), C([3.0, 0.5], "float")])
    for op in ("Neg", "Abs", "Sign"):
        value(op, 18, [C([3, -4])], add=5)
        value(op, 18, [C([3.5, -4.5], "float")], add=5)
    for op in ("Floor", "Ceil", "Round"):
        value(op, 18, [C([0.5, 1.5, 2.5, -0.5, -1.5, 2.4], "float")], add=3)
    for op in ("Sqrt", "Exp", "Log", "Reciprocal"):
        value(op, 18, [C([2.0, 9.0, 4.0], "float")])
    # 32-bit floats round where 64-bit ones do not
    for x, y in ((0.29, 100.0), (0.57, 100.0), (1.1, 10.0), (0.07, 100.0), (1.005, 1000.0)):
        value("Mul", 18, [C([x], "float"), C([y], "float")])
        value("Mul", 18, [C([x], "double"), C([y], "double")])
    value("Div", 18, [C([7.0, 1.0, 9.0], "float"), C([0.1, 0.1, 0.3], "float")])
    value("Add", 18, [C([0.1, 0.7], "float"), C([0.9, 0.3], "float")], add=1)
    value("Cast", 18, [C([2.9, -2.9, 0.2], "float")], add=3, to=7)
    value("Cast", 18, [C([2.9, -2.9, 0.2], "float")], add=3, to=6)
    value("Cast", 18, [C([2.5, 0.0], "float")], to=9)
    value("Cast", 18, [C([3, 0, -1])], to=9)
    open_value("Cast", 18, [C([257, -1], "int32")], add=300, to=2)
    value("Cast", 18, [C([2.0005, 9.0], "double")], to=10)
    value("Cast", 18, [C([16777217])], add=-16777000, to=1)
    for op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        value(op, 18, [C([1, 2, 3]), C(2)], add=1)
        value(op, 18, [C([1.0, 2.0, 3.0], "float"), C([2.0], "float")], add=1)
    for op in ("And", "Or", "Xor"):
        value(op, 18, [C([0, 0, 1, 1], "bool"), C([0, 1, 0, 1], "bool")], add=1)
    value("Not", 18, [C([0, 1], "bool")], add=1)
    value("Where", 18, [C([1, 0, 1], "bool"), C([4, 5, 6]), C(2)])
    value("Clip", 18, [C([1, 5, 9]), C(2), C(7)])
    value("Clip", 18, [C([1.5, 5.0, 9.0], "float"), C(2.5, "float"), C(7.5, "float")])
    value("Clip", 18, [C([1, 5, 9]), None, C(7)])
    value("Clip", 18, [C([1, 5, 9]), C(8), C(3)])
    for op in ("Sum", "Mean", "Max", "Min"):
        value(op, 18, [C([1.0, 4.0], "float"), C([3.0, 5.0], "float"), C(2.0, "float")])
    m = C([[4, 2, 6], [3, 5, 1]])
    f = C([[4.0, 2.0, 6.0], [3.0, 5.0, 2.0]], "float")
    for op in ("ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean"):
        for x in (m, f):
            value(op, 18, [x, C([0])])
            value(op, 18, [x, C([-1])], keepdims=0)
            value(op, 18, [x])
        value(op, 18, [f, C([])], noop_with_empty_axes=1)
        value(op, 18, [C([-7, 2]), C([0])], add=20)
        value(op, 18, [C([-7, 2], "int32"), C([0])], add=20)
    value("ReduceSum", 18, [C([])], add=3)
    value("ReduceProd", 18, [C([])], add=3)
    for op in ("ArgMax", "ArgMin"):
        value(op, 18, [C([[4, 2, 4], [3, 1, 1]])], add=1, axis=1)
        value(op, 18, [C([[4, 2, 4], [3, 1, 1]])], add=1, axis=-1, select_last_index=1, keepdims=0)
        value(op, 18, [C([[4.0, 2.0, 4.0], [4.0, 1.0, 5.0]], "float")], add=1)
    value("CumSum", 18, [C([1, 2, 3]), C(0)])
    value("CumSum", 18, [C([1, 2, 3]), C(0)], add=1, exclusive=1)
    value("CumSum", 18, [C([1, 2, 3]), C(-1)], add=1, exclusive=1, reverse=1)
    value("CumSum", 18, [C([[1, 2], [3, 4]]), C(0)], reverse=1)
    value("Concat", 18, [C([1, 2]), C([3])], axis=0)
    value("Concat", 18, [C([[1], [2]]), C([[3], [4]])], axis=-1)
    value("Gather", 18, [C([5, 6, 7]), C([-1, 0])])
    value("Gather", 18, [m, C([[2, 0]])], axis=1)
    value("GatherElements", 18, [m, C([[1, -1], [0, 2]])], axis=1)
    value("GatherND", 18, [m, C([[1, -1], [0, 2]])])
    value("ScatterElements", 18, [C([5, 6, 7]), C([2, -3]), C([1, 2])])
    value("ScatterElements", 18, [m, C([[1, -1]]), C([[2, 3]])], axis=1)
    for how in ("add", "mul", "max", "min"):
        open_value("ScatterElements", 18, [C([5, 6, 7]), C([2, 2]), C([1, 2])], reduction=how)
        open_value("ScatterND", 18, [C([5, 6, 7]), C([[2], [0]]), C([1, 8])], reduction=how)
    value("ScatterND", 18, [C([5, 6, 7]), C([[-1], [0]]), C([1, 8])])
    value("Slice", 18, [C([4, 5, 6, 7]), C([-1]), C([-9]), C([0]), C([-2])])
    value("Slice", 18, [m, C([1, 0]), C([3, 1]), C([1, 0])])
    value("Split", 18, [C([4, 5, 6])], 2, num_outputs=2)
    value("Squeeze", 18, [C([[4], [5]]), C([1])])
    value("Unsqueeze", 18, [C([4, 5]), C([0])])
    value("Reshape", 18, [m, C([3, -1])])
    value("Flatten", 18, [m])
    value("Transpose", 18, [m])
    value("Tile", 18, [C([2, 3]), C([2])])
    value("Tile", 18, [C([[2], [3]]), C([1, 2])])
    value("Expand", 18, [C([[2], [3]]), C([2, 2])])
    value("Pad", 18, [C([2, 3]), C([1, 2]), C(4)])
    value("Pad", 18, [C([2, 3, 4]), C([1, -1])], add=1)
    open_value("Pad", 18, [C([2, 3, 4]), C([2, 1])], mode="reflect")
    open_value("Pad", 18, [C([2, 3, 4]), C([2, 1])], mode="edge")
    open_value("Pad", 19, [C([2, 3, 4]), C([2, 1])], mode="wrap")
    open_value("Pad", 18, [C([[2, 3], [4, 5]]), C([0, 1]), C(6), C([1])])
    value("Trilu", 18, [m, C(1)], add=1)
    value("Trilu", 18, [m], add=1, upper=0)
    value("NonZero", 18, [C([0, 3, 0, 1])], add=1)
    value("NonZero", 18, [C([[0, 3], [2, 0]])], add=1)
    value("Range", 18, [C(2), C(9), C(3)])
    value("Range", 18, [C(9), C(2), C(-3)])
    value("Range", 18, [C(1.5, "float"), C(4.0, "float"), C(0.5, "float")])
    value("Shape", 21, [F(2, 3, 4)], start=-2)
    value("Size", 21, [F(2, 3)])
    value("ConstantOfShape", 18, [C([2])], add=1)
    value("Identity", 18, [m])
    open_value("TopK", 18, [C([4, 2, 6]), C([2])], 2, add=1)
    value("ms.Range", 18, [C(2), C(9), C(3)])
    value("ms.Trilu", 18, [m, C(1)], add=1)


# -- text, optionals, sequences, bodies --

def text():
    s = T("string", 2, 1)
    case("StringConcat", 20, [s, T("string", 3)])
    case("StringConcat", 20, [T("string"), T("string")])
    case("StringConcat", 20, [T("string", 0, 3), T("string", 1)])
    open_case("StringSplit", 20, [s], 2)
    open_case("StringSplit", 20, [s], 2, delimiter=" ", maxsplit=1)
    open_case("StringSplit", 20, [T("string", 0)], 2)
    case("RegexFullMatch", 20, [T("string", 2, 3)], pattern="a.*")
    case("RegexFullMatch", 20, [T("string")], pattern="a.*")
    case("TfIdfVectorizer", 9, [I(2, 6)], mode="TF", min_gram_length=1, max_gram_length=1,
         max_skip_count=0,
         ngram_counts=[0], ngram_indexes=[0, 1, 2], pool_int64s=[1, 2, 3])


def containers():
    x = F(2, 3)
    chain("Optional, get", 18, [x], ("Optional", "x0", "o"), ("OptionalGetElement", "o", "y"))
    chain("Optional, has", 18, [x], ("Optional", "x0", "o"), ("OptionalHasElement", "o", "y"))
    case("OptionalHasElement", 18, [x])
    case("OptionalHasElement", 18, [])
    case("OptionalHasElement", 18, [None])
    case("OptionalGetElement", 18, [x])
    chain("sequence at", 18, [x, F(2, 3), C(1)], ("SequenceConstruct", "x0 x1", "s"),
          ("SequenceAt", "s x2", "y"))
    chain("sequence concat", 18, [x, F(4, 3)], ("SequenceConstruct", "x0 x1", "s"),
          ("ConcatFromSequence", "s", "y", {"axis": 0}))
    chain("sequence stack", 18, [x, F(2, 3)], ("SequenceConstruct", "x0 x1", "s"),
          ("ConcatFromSequence", "s", "y", {"axis": -1, "new_axis": 1}))
    chain("sequence length", 18, [x, F(4, 3)], ("SequenceConstruct", "x0 x1", "s"),
          ("SequenceLength", "s", "y"))
    chain("split to sequence, at", 24, [F(6, 2), C(2), C(0)], ("SplitToSequence", "x0 x1", "s"),
          ("SequenceAt", "s x2", "y"))
    chain("split to sequence, no keepdims", 18, [F(6, 2), C(0)],
          ("SplitToSequence", "x0", "s", {"keepdims": 0, "axis": 1}),
          ("SequenceAt", "s x1", "y"))
    one = helper.make_tensor("value", 7, [1], [5])
    chain("Constant", 25, [], ("Constant", "", "y", {"value": one}))
    chain("Constant ints", 23, [], ("Constant", "", "y", {"value_ints": [1, 2]}))
    chain("Constant string", 24, [], ("Constant", "", "y", {"value_string": "a"}))
    chain("ConstantOfShape with value", 21, [C([2, 3])],
          ("ConstantOfShape", "x0", "y", {"value": one}))


def body(steps, inputs, outputs):
    """A graph; inputs are (name, element type, dims)."""
    nodes = [node_of(op, names.split(), outs.split(), dict(*attributes))
             for op, names, outs, *attributes in steps]
    return helper.make_graph(nodes, "body",
                             [helper.make_tensor_value_info(*one) for one in inputs],
                             [helper.ValueInfoProto(name=name) for name in outputs.split()])


def bodies():
    x = F(2, 3)
    counter = [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, [])]
    keep = ("Identity", "c", "d")
    state = ("v", TensorProto.FLOAT, [2, 3])
    branch = body([("Identity", "x1", "b")], [], "b")
    other = body([("Concat", "x1 x1", "b", {"axis": 0})], [], "b")
    loop = body([keep, ("Add", "v v", "w"), ("ReduceSum", "v", "s", {"keepdims": 0})],
                [*counter, state], "d w s")
    scan = body([("Add", "v r", "w"), ("Mul", "w r", "s")],
                [("v", TensorProto.FLOAT, [3]), ("r", TensorProto.FLOAT, [3])], "w s")
    for opset in (19, 21, 23, 24, 25):
        chain("If", opset, [T("bool"), x],
              ("If", "x0", "y", {"then_branch": branch, "else_branch": branch}))
        chain("Loop", opset, [C(4), C(1, "bool"), x], ("Loop", "x0 x1 x2", "y z", {"body": loop}))
        chain("Scan", opset, [F(3), F(5, 3)],
              ("Scan", "x0 x1", "y z", {"body": scan, "num_scan_inputs": 1}))
    chain("Scan along axis 1", 24, [F(3), F(3, 5)], ("Scan", "x0 x1", "y z", {
        "body": scan, "num_scan_inputs": 1, "scan_input_axes": [1], "scan_output_axes": [-1]}))
    chain("Scan from the end", 24, [F(3), F(5, 3)], ("Scan", "x0 x1", "y z", {
        "body": scan, "num_scan_inputs": 1, "scan_input_directions": [1],
        "scan_output_directions": [1]}))
    for condition in (0, 1):
        chain("If of different shapes", 21, [C(condition, "bool"), x],
              ("If", "x0", "y", {"then_branch": branch, "else_branch": other}))
        chain("Loop on a condition", 21, [C(3), C(condition, "bool"), x],
              ("Loop", "x0 x1 x2", "y z", {"body": loop}))
    chain("If of different shapes, open", 21, [T("bool"), x],
          ("If", "x0", "y", {"then_branch": branch, "else_branch": other}), may_be_open=True)
    chain("Loop of no trips", 21, [C(0), C(1, "bool"), x],
          ("Loop", "x0 x1 x2", "y z", {"body": loop}))
    chain("Loop of unknown trips", 21, [I(), C(1, "bool"), x],
          ("Loop", "x0 x1 x2", "y z", {"body": loop}), may_be_open=True)
    ends = body([("Less", "i x3", "d"), ("Add", "v v", "w"), ("Identity", "v", "s")],
                [*counter, state], "d w s")
    for limit in (0, 1, 9):
        chain("Loop that ends itself", 21, [C(4), C(1, "bool"), x, C(limit)],
              ("Loop", "x0 x1 x2", "y z", {"body": ends}), may_be_open=True)
    grows = body([keep, ("Concat", "v v", "w", {"axis": 0}), ("Shape", "w", "s")],
                 [*counter, ("v", TensorProto.FLOAT, None)], "d w s")
    chain("Loop that grows", 21, [C(3), C(1, "bool"), x],
          ("Loop", "x0 x1 x2", "y z", {"body": grows}), may_be_open=True)
    outer = body([keep, ("Add", "v x3", "w"), ("Add", "w x3", "s")], [*counter, state], "d w s")
    chain("Loop that looks outside", 21, [C(2), C(1, "bool"), x, F(3)],
          ("Loop", "x0 x1 x2", "y z", {"body": outer}))


def all_cases():
    if not CASES:
        for family in (elementwise, reductions, shapes, indices, resize, pools, grids, signal,
                       products, normalisation, random, attention, ms_attention, recurrent,
                       quantisation, ms_quantised, ms_fused, classic, values, text,
                       containers, bodies):
            family()
    return CASES.values()
